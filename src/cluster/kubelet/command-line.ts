/** The command line of `t8s kubelet`: it does not import the kubelet, so that `--help` does not load it. */
export { effectiveConfiguration } from './effective-configuration.ts'
export { deprecatedFlagLines } from './flags/deprecated-flags.ts'
export { idleFlagLines, kubeletFlags, kubeletHelp } from './flags/index.ts'
