/**
 * The flags of kube-apiserver 1.36: their table, the parser of command lines, the help. Their effects are implemented
 * in `cluster/`.
 */
import { FeatureGates } from '../../api/features/feature-gates.ts'
import { idleGateLines } from '../../api/features/idle-gates.ts'
import { featureSettings } from '../feature-gates/index.ts'
import type { Flag } from './flag.ts'
import { flagsHelp } from './help.ts'
import { logFormatOf } from './log-format.ts'
import { type FlagValues, parseFlags } from './parse.ts'
import { admission, auditing, authentication, authorization } from './table/access.ts'
import { global, logs, metrics } from './table/every-component.ts'
import { features, own, traces } from './table/observing.ts'
import { egress, enablement, etcd, generic, misc, secureServing } from './table/serving.ts'

export { namedCertKey } from '../../lib/go/flag-values.ts'
export { admissionControlErrors, admissionPluginErrors, admissionPluginNames } from './admission-plugins.ts'
export { logFormatOf } from './log-format.ts'
export { FlagError, type FlagValues } from './parse.ts'

/** In upstream's order. */
const sets = [
  generic,
  etcd,
  secureServing,
  auditing,
  features,
  authentication,
  authorization,
  enablement,
  egress,
  admission,
  metrics,
  logs('0 is calm, 2 tells how long the start took'),
  traces,
  misc,
  own,
  global('the API that is served'),
]

/** All flags. */
export const allApiServerFlags: readonly Flag[] = sets.flatMap(({ flags }) => flags)

/** Parses the command line of kube-apiserver. Throws a FlagError with pflag's message. */
export function apiServerFlags(args: readonly string[]): FlagValues {
  const values = parseFlags(sets, args)
  logFormatOf(values)
  return values
}

/** Warnings for given flags without effect, a line per flag. */
export const idleFlagLines = (values: FlagValues): string[] => [
  ...values.given.flatMap(({ name, idle }) => (idle ? [`--${name} changes nothing here: ${idle}`] : [])),
  ...idleGateLines(new FeatureGates(featureSettings(values.all('feature-gates')))),
]

/** The text of `--help`; `program` is the name of the command. */
export const apiServerHelp = (program: string): string =>
  flagsHelp(
    'The API server of Typernetes, alone, with the flags of kube-apiserver 1.36. ' +
      `Controllers, scheduler and nodes are other programs.

Usage:
  ${program} [flags]`,
    sets,
  )
