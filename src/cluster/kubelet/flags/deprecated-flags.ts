/** The flags that upstream has deprecated, with its warnings. All of them work as before. */
import type { FlagValues } from '../../../apiserver/serving-flags/parse.ts'
import { configFlags } from './config-flags.ts'

const useFile =
  "This parameter should be set via the config file specified by the Kubelet's --config flag. See " +
  'https://kubernetes.io/docs/tasks/administer-cluster/kubelet-config-file/ for more information.'
const useEviction = 'Use --eviction-hard or --eviction-soft instead. Will be removed in a future version.'

/** Flags of the program, which are no fields. */
const ofProgram: Readonly<Record<string, string>> = {
  'minimum-container-ttl-duration': useEviction,
  'maximum-dead-containers': useEviction,
  'maximum-dead-containers-per-container': useEviction,
  'experimental-mounter-path': 'will be removed in 1.25 or later. in favor of using CSI.',
  'experimental-allocatable-ignore-eviction': 'will be removed in 1.25 or later.',
}

/** Flags of fields that remain beside the file. */
const remaining = new Set(['provider-id', 'fail-cgroupv1'])

const fields = new Set(
  [...configFlags.map(({ name }) => name), 'logging-format'].filter((name) => !remaining.has(name)),
)

/** One line for each deprecated flag of a command line, as pflag prints it. */
export const deprecatedFlagLines = (flags: FlagValues): string[] =>
  flags.given.flatMap(({ name }) => {
    const advice = fields.has(name) ? useFile : ofProgram[name]
    return advice ? [`Flag --${name} has been deprecated, ${advice}`] : []
  })
