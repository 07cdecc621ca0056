/** Parses the command line of kube-controller-manager 1.36 and prints its help. */
import type { Flag, FlagSet, FlagType } from '../../../apiserver/serving-flags/flag.ts'
import { flagsHelp } from '../../../apiserver/serving-flags/help.ts'
import { logFormatOf } from '../../../apiserver/serving-flags/log-format.ts'
import { FlagError, type FlagValues, parseFlags } from '../../../apiserver/serving-flags/parse.ts'
import { chosenControllers, controllerFlags, offByDefault } from '../../../controllers/index.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { after, before } from './table.ts'

export type { FlagValues } from '../../../apiserver/serving-flags/parse.ts'
export { signerFlags } from './table.ts'

type ControllerFlag = (typeof controllerFlags)[number]

const types: Readonly<Record<ControllerFlag['type'], FlagType>> = {
  number: 'float',
  duration: 'duration',
  boolean: 'bool',
  text: 'string',
}

/** Converts a controller's flag for pflag: a number whose default is whole is an integer. */
const flagOf = ({ name, type, help, default: fallback }: ControllerFlag): Flag => ({
  name,
  type: type === 'number' && !fallback.includes('.') ? 'int' : types[type],
  help,
  ...(fallback !== '' && fallback !== '0' && fallback !== 'false' && { usual: fallback }),
})

const controllers: FlagSet = { name: 'controller', flags: controllerFlags.map(flagOf) }
const sets: readonly FlagSet[] = [...before, controllers, ...after]
const ofControllers = new Set(controllerFlags.map(({ name }) => name))

/**
 * Parses the command line. Throws a FlagError with pflag's message, and an ExplainedError for unknown controllers and
 * invalid values.
 */
export function managerFlags(args: readonly string[]): FlagValues {
  const flags = parseFlags(sets, args, 'kube-controller-manager')
  logFormatOf(flags)
  const lock = flags.text('leader-elect-resource-lock') ?? 'leases'
  if (lock !== 'leases')
    throw new FlagError(`resourceLock: Invalid value: ${JSON.stringify(lock)}: resourceLock value must be "leases"`)
  const port = flags.int('secure-port') ?? 0
  if (port < 0 || port > 65_535)
    throw new FlagError(`--secure-port ${port} must be between 0 and 65535, inclusive. 0 for turning off secure port`)
  checkTimes(flags)
  chosenControllers(chosenOf(flags), controllerValues(flags))
  return flags
}

/** The value of `--controllers`. */
export const chosenOf = (flags: FlagValues): readonly string[] => flags.list('controllers') ?? ['*']

/** Returns the values of the controllers' flags by name, in the form that controllers parse. */
export function controllerValues(flags: FlagValues): Readonly<Record<string, string>> {
  const given = flags.given.filter(({ name }) => ofControllers.has(name))
  return Object.fromEntries(
    given.map(({ name, type }) => [
      name,
      `${type === 'bool' ? flags.bool(name) : type === 'int' ? flags.int(name) : flags.text(name)}`,
    ]),
  )
}

/** Returns a line for each given flag that has no effect. */
export const idleLines = (flags: FlagValues): string[] =>
  flags.given.flatMap(({ name, idle }) => (idle ? [`--${name} changes nothing here: ${idle}`] : []))

/** In ms. */
export interface ElectionTimes {
  readonly leaseDurationMs: number
  readonly renewDeadlineMs: number
  readonly retryPeriodMs: number
}

export const electionTimes = (flags: FlagValues): ElectionTimes => ({
  leaseDurationMs: flags.durationMs('leader-elect-lease-duration') ?? 15_000,
  renewDeadlineMs: flags.durationMs('leader-elect-renew-deadline') ?? 10_000,
  retryPeriodMs: flags.durationMs('leader-elect-retry-period') ?? 2_000,
})

function checkTimes(flags: FlagValues): void {
  const { leaseDurationMs: leaseMs, renewDeadlineMs: renewMs, retryPeriodMs: retryMs } = electionTimes(flags)
  if (leaseMs <= renewMs)
    throw new ExplainedError('--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline')
  if (renewMs <= retryMs * 1.2)
    throw new ExplainedError('--leader-elect-renew-deadline must be longer than 1.2 times --leader-elect-retry-period')
  if (leaseMs < 1000 || retryMs <= 0)
    throw new ExplainedError(
      '--leader-elect-lease-duration must be at least one second, --leader-elect-retry-period longer than 0',
    )
}

/** `--help`. */
export const managerHelp = (program: string): string =>
  flagsHelp(
    `Runs the controllers of Kubernetes against any API server, with the flags of kube-controller-manager 1.36.
Of several running managers, one is the leader.

Usage:
  ${program} [flags]

Examples:
  ${program} --kubeconfig kubeconfig --use-service-account-credentials
  ${program} --kubeconfig kubeconfig --controllers '*,-namespace-controller' --concurrent-deployment-syncs 10
  ${program} --kubeconfig kubeconfig --authentication-kubeconfig kubeconfig --authorization-kubeconfig kubeconfig
  ${program} --kubeconfig kubeconfig --leader-elect=false --secure-port 0

Controllers that run only if --controllers names them: ${offByDefault.join(', ')}`,
    sets,
  )
