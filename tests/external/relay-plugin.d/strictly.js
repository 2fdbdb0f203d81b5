// Members of a thenable that `await` asks for, and those that serialisers do.
const ASKED_OF_EVERYTHING = ["then", "toJSON", "constructor"];

/**
 * Lets nothing be read or written that is not there: an adapter that uses more of its host than the fake declares, and
 * so than was checked against the host's types, fails. `in` is answered as it is.
 * @template {object} T @param {T} thing @returns {T}
 */
export function strictly(thing) {
    return new Proxy(thing, {
        get(target, name) {
            if (typeof name === "string" && !(name in target) && !ASKED_OF_EVERYTHING.includes(name)) {
                throw new TypeError(`the fake declares no ${name}`);
            }
            const value = Reflect.get(target, name, target);
            // So that `this` is the thing itself, which others hold.
            return typeof value === "function" ? value.bind(target) : value;
        },
        set(target, name, value) {
            if (!(name in target)) throw new TypeError(`the fake declares no ${String(name)}`);
            return Reflect.set(target, name, value, target);
        },
    });
}
