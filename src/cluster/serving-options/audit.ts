/** The audit flags: `--audit-policy-file`, `--audit-log-…`, `--audit-webhook-…`. */
import {
  type AuditOptions,
  type BatchOptions,
  formats,
  type Mode,
  modes,
  type TruncateOptions,
} from '../../apiserver/audit/index.ts'
import type { FlagValues } from '../../apiserver/serving-flags/index.ts'
import { type FlagContext, pathOf } from './flag-context.ts'

type Backend = 'log' | 'webhook'

const usual = {
  log: { mode: 'blocking', maxSize: 1, maxWaitMs: 0, throttled: false },
  webhook: { mode: 'batch', maxSize: 400, maxWaitMs: 30_000, throttled: true },
} as const satisfies Readonly<Record<Backend, object>>

const usualBuffer = 10_000
const usualThrottle = { perSecond: 10, burst: 15 }
const usualTruncate: TruncateOptions = { maxEventSize: 102_400, maxBatchSize: 10_485_760 }
const usualBackoffMs = 10_000
const versions: readonly string[] = ['audit.k8s.io/v1']

const modeOf = (flags: FlagValues, backend: Backend): string =>
  flags.text(`audit-${backend}-mode`) ?? usual[backend].mode
const isMode = (mode: string): mode is Mode => modes.some((known) => known === mode)

function batchOf(flags: FlagValues, backend: Backend): BatchOptions {
  const named = (name: string): string => `audit-${backend}-batch-${name}`
  const throttled = flags.bool(named('throttle-enable')) ?? usual[backend].throttled
  return {
    bufferSize: flags.int(named('buffer-size')) ?? usualBuffer,
    maxSize: flags.int(named('max-size')) ?? usual[backend].maxSize,
    maxWaitMs: flags.durationMs(named('max-wait')) ?? usual[backend].maxWaitMs,
    ...(throttled && {
      throttle: {
        perSecond: flags.float(named('throttle-qps')) ?? (backend === 'webhook' ? usualThrottle.perSecond : 0),
        burst: flags.int(named('throttle-burst')) ?? (backend === 'webhook' ? usualThrottle.burst : 0),
      },
    }),
  }
}

const truncateOf = (flags: FlagValues, backend: Backend): TruncateOptions => ({
  maxEventSize: flags.int(`audit-${backend}-truncate-max-event-size`) ?? usualTruncate.maxEventSize,
  maxBatchSize: flags.int(`audit-${backend}-truncate-max-batch-size`) ?? usualTruncate.maxBatchSize,
})

/** Returns upstream's errors for invalid values; empty if there are none. */
export function auditErrors(flags: FlagValues): string[] {
  const log = flags.text('audit-log-path')
  const webhook = flags.text('audit-webhook-config-file')
  return [
    ...(log ? [...backendErrors(flags, 'log'), ...logErrors(flags)] : []),
    ...(webhook ? backendErrors(flags, 'webhook') : []),
  ]
}

function logErrors(flags: FlagValues): string[] {
  const format = flags.text('audit-log-format') ?? 'json'
  return [
    ...(['maxage', 'maxbackup', 'maxsize'] as const).flatMap((name) => {
      const value = flags.int(`audit-log-${name}`) ?? 0
      return value < 0 ? [`--audit-log-${name} ${value} can't be a negative number`] : []
    }),
    ...(formats.some((known) => known === format)
      ? []
      : [`invalid audit log format ${format}, allowed formats are ${JSON.stringify(formats.join(','))}`]),
  ]
}

function backendErrors(flags: FlagValues, backend: Backend): string[] {
  const mode = modeOf(flags, backend)
  const version = flags.text(`audit-${backend}-version`) ?? versions[0]!
  const { maxEventSize, maxBatchSize } = truncateOf(flags, backend)
  return [
    ...(isMode(mode)
      ? batchErrors(flags, backend, mode)
      : [`invalid audit ${backend} mode ${mode}, allowed modes are ${JSON.stringify(modes.join(','))}`]),
    ...(maxEventSize <= 0
      ? [`invalid audit truncate ${backend} max event size ${maxEventSize}, must be a positive number`]
      : maxBatchSize < maxEventSize
        ? [
            `invalid audit truncate ${backend} max batch size ${maxBatchSize}, must be greater than max event ` +
              `size (${maxEventSize})`,
          ]
        : []),
    ...(versions.includes(version)
      ? []
      : [`invalid group version, allowed versions are [${versions.map((known) => JSON.stringify(known)).join(' ')}]`]),
  ]
}

function batchErrors(flags: FlagValues, backend: Backend, mode: Mode): string[] {
  if (mode !== 'batch') return []
  const { bufferSize, maxSize, throttle } = batchOf(flags, backend)
  const wrong = (
    [
      ['buffer size', bufferSize],
      ['max batch size', maxSize],
      ['throttle QPS', throttle?.perSecond ?? 1],
      ['throttle burst', throttle?.burst ?? 1],
    ] as const
  ).find(([, value]) => value <= 0)
  return wrong ? [`invalid audit batch ${backend} ${wrong[0]} ${wrong[1]}, must be a positive number`] : []
}

/** Logs given flags that have no effect without a policy. */
export function auditOptions(context: FlagContext): AuditOptions {
  const { flags, log } = context
  const policyFile = pathOf(context, 'audit-policy-file')
  const path = flags.text('audit-log-path')
  const configFile = pathOf(context, 'audit-webhook-config-file')
  if (!policyFile) {
    if (path) log('No audit policy file provided, no events will be recorded for log backend')
    if (configFile) log('No audit policy file provided, no events will be recorded for webhook backend')
    return {}
  }
  return {
    policyFile,
    ...(path && {
      log: {
        path: path === '-' ? path : pathOf(context, 'audit-log-path')!,
        maxSize: flags.int('audit-log-maxsize'),
        maxAge: flags.int('audit-log-maxage'),
        maxBackups: flags.int('audit-log-maxbackup'),
        compress: flags.bool('audit-log-compress'),
        format: flags.text('audit-log-format') === 'legacy' ? 'legacy' : 'json',
        ...backendOptions(flags, 'log'),
      },
    }),
    ...(configFile && {
      webhook: {
        configFile,
        initialBackoffMs: flags.durationMs('audit-webhook-initial-backoff') ?? usualBackoffMs,
        ...backendOptions(flags, 'webhook'),
      },
    }),
  }
}

function backendOptions(
  flags: FlagValues,
  backend: Backend,
): { readonly mode: Mode; readonly batch: BatchOptions; readonly truncate?: TruncateOptions } {
  const mode = modeOf(flags, backend)
  return {
    mode: isMode(mode) ? mode : usual[backend].mode,
    batch: batchOf(flags, backend),
    ...(flags.bool(`audit-${backend}-truncate-enabled`) && { truncate: truncateOf(flags, backend) }),
  }
}
