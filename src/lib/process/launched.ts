/**
 * Only to a Node that it knows does the launcher give flags: another one may not know ours, and in others' programs its
 * settings are theirs.
 */
export const isLaunched: boolean = process.execArgv.some((flag) => flag.startsWith('--max-semi-space-size='))
