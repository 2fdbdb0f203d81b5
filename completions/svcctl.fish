complete --keep-order --exclusive --command svcctl --arguments "(_SVCCTL_COMPLETE=fish svcctl -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
