/**
 * The flags of kube-apiserver 1.36: which there are, how a command line is read, what the help says. What they do is
 * said by `cluster/`.
 */
import { FeatureGates } from '../../api/features/feature-gates.ts'
import { idleGateLines } from '../../api/features/gate-effects.ts'
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

/** Every flag that there is. */
export const allApiServerFlags: readonly Flag[] = sets.flatMap(({ flags }) => flags)

/** Reads the command line of kube-apiserver. Throws a FlagError with pflag's words. */
export function apiServerFlags(args: readonly string[]): FlagValues {
  const values = parseFlags(sets, args)
  logFormatOf(values)
  return values
}

/** What is to be said of flags that were given and change nothing, a line each. */
export const idleFlagLines = (values: FlagValues): string[] => [
  ...values.given.flatMap(({ name, idle }) => (idle ? [`--${name} changes nothing here: ${idle}`] : [])),
  ...idleGateLines(new FeatureGates(featureSettings(values.all('feature-gates')))),
]

/** `--help`; `program` is what was called. */
export const apiServerHelp = (program: string): string =>
  flagsHelp(
    `The API server of Typernetes, alone, with the flags of kube-apiserver 1.36. Controllers, scheduler and nodes are other programs.

Usage:
  ${program} [flags]`,
    sets,
  )
