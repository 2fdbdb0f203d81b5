// What a design tool keeps for its plugins, by name: shared by the tabs of a browser profile, and there after a reload.
export class Kept {
    /** @param {string} prefix */
    constructor(prefix) { this.prefix = prefix; }
    get(name) { return localStorage.getItem(this.prefix + name) ?? undefined; }
    set(name, text) { localStorage.setItem(this.prefix + name, text); }
    delete(name) { localStorage.removeItem(this.prefix + name); }
    keys() { return Object.keys(localStorage).filter((key) => key.startsWith(this.prefix)).map((key) => key.slice(this.prefix.length)); }
}
