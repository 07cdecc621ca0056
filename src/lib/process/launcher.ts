/**
 * True if the launcher `t8s` started this process with V8 flags, which it does for known versions of Node. In other
 * programs, the settings of V8 must not be changed.
 */
export const isStartedByLauncher: boolean = process.execArgv.some((flag) => flag.startsWith('--max-semi-space-size='))
