/** The flags of the server itself: addresses, ports, timeouts. */
import type { ApiServerOptions } from '../../../apiserver/server.ts'
import type { ReconcilerType } from '../../../apiserver/services/own-service/endpoint-reconciler.ts'
import type { FlagValues } from '../../../apiserver/serving-flags/index.ts'
import { parseCidr } from '../../../lib/cidr.ts'
import { linearRegexp } from '../../../lib/linear-regexp/index.ts'
import type { FlagContext } from '../flag-context.ts'

export const defaultPort = 6443

/** Returns upstream's errors for invalid values; empty if there are none. */
export function servingErrors(flags: FlagValues): string[] {
  const port = flags.int('secure-port') ?? defaultPort
  const timeoutMs = flags.durationMs('request-timeout') ?? 1
  const ranges = flags.text('service-cluster-ip-range')?.split(',') ?? []
  return [
    ...(port < 0 || port > 65_535
      ? [`--secure-port ${port} must be between 1 and 65535, inclusive. It cannot be turned off with 0`]
      : []),
    ...(timeoutMs <= 0 ? ['--request-timeout must be longer than 0'] : []),
    ...(ranges.some((range) => range !== '' && !parseCidr(range.trim()))
      ? ['service-cluster-ip-range is not a valid cidr']
      : []),
    ...ranges.flatMap(smallRangeErrors),
    ...(ranges.length > 2 ? ['--service-cluster-ip-range must not contain more than two entries'] : []),
    ...reconcilerErrors(flags.text('endpoint-reconciler-type') ?? ''),
    ...countErrors(flags.int('apiserver-count') ?? 1),
    ...goawayErrors(flags.float('goaway-chance') ?? 0),
    ...negativeErrors(flags),
    ...(flags.list('strict-transport-security-directives') ?? []).flatMap(directiveErrors),
    ...(flags.list('cors-allowed-origins') ?? []).flatMap(originErrors),
  ]
}

const fewestAddresses = 8

/** Upstream's message about a range of Services, whose first addresses are reserved. */
function smallRangeErrors(range: string, at: number): string[] {
  const cidr = parseCidr(range.trim())
  if (!cidr || (cidr.family === 4 ? 32 : 128) - cidr.prefix >= Math.log2(fewestAddresses)) return []
  const which = at === 0 ? 'primary' : 'secondary'
  return [
    `error determining service IP ranges for ${which} service cidr: the service cluster IP range must be at ` +
      `least ${fewestAddresses} IP addresses`,
  ]
}

const reconcilers: readonly ReconcilerType[] = ['lease', 'master-count', 'none']

const isReconciler = (type: string): type is ReconcilerType => (reconcilers as readonly string[]).includes(type)

const reconcilerErrors = (type: string): string[] =>
  type === '' || isReconciler(type)
    ? []
    : [`Reconciler not implemented: ${type}: --endpoint-reconciler-type is one of lease, master-count, none`]

const countErrors = (count: number): string[] =>
  count > 0 ? [] : [`--apiserver-count should be a positive number, but value '${count}' provided`]

const goawayErrors = (chance: number): string[] =>
  chance < 0 || chance > 0.02 ? ['--goaway-chance can not be less than 0 or greater than 0.02'] : []

function negativeErrors(flags: FlagValues): string[] {
  const { minRequestTimeout = 0, streams = 0 } = {
    minRequestTimeout: flags.int('min-request-timeout'),
    streams: flags.int('http2-max-streams-per-connection'),
  }
  return [
    ...(minRequestTimeout < 0 ? ['--min-request-timeout can not be negative value'] : []),
    ...(streams < 0 ? ['--http2-max-streams-per-connection can not be negative value'] : []),
    ...['etcd-compaction-interval', 'event-ttl'].flatMap((name) =>
      (flags.durationMs(name) ?? 0) < 0 ? [`--${name} can not be negative value`] : [],
    ),
    ...((flags.durationMs('livez-grace-period') ?? 0) < 0 ? ['--livez-grace-period can not be a negative value'] : []),
    ...((flags.durationMs('shutdown-delay-duration') ?? 0) < 0
      ? ['--shutdown-delay-duration can not be negative value']
      : []),
    ...((flags.durationMs('shutdown-watch-termination-grace-period') ?? 0) < 0
      ? ['shutdown-watch-termination-grace-period, if provided, can not be a negative value']
      : []),
  ]
}

function directiveErrors(directive: string): string[] {
  if (directive.trim() === '') return ['empty value in strict-transport-security-directives']
  if (directive === 'includeSubDomains' || directive === 'preload' || /^max-age=[^=]*$/.test(directive)) return []
  return [
    '--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, ' +
      'preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information',
  ]
}

/** Expressions must contain the start and the end of the host (CVE-2022-1996). */
function originErrors(origin: string): string[] {
  const help =
    "a list of origins: each a regular expression such as '^https://app\\.example\\.com$' or '//example\\.com(:|$)'"
  if (origin === '') return [`empty value in --cors-allowed-origins, help: ${help}`]
  const wrong = (why: string): string[] => [
    `--cors-allowed-origins has an invalid regular expression: ${why}, help: ${help}`,
  ]
  try {
    linearRegexp(origin)
  } catch (error) {
    return wrong((error as Error).message)
  }
  const isPinned = /\^|\/\//.test(origin) && /[$:]/.test(origin)
  return isPinned ? [] : wrong('regular expression does not pin to start/end of host in the origin header')
}

/** Options of request handling and of the shutdown. */
export function servingProcess({
  flags,
}: FlagContext): Pick<
  ApiServerOptions,
  | 'eventTtlMs'
  | 'http'
  | 'limits'
  | 'livezGraceMs'
  | 'minRequestTimeoutSeconds'
  | 'objectCountMs'
  | 'shutdownDelayMs'
  | 'storeHealth'
  | 'watchTerminationGraceMs'
> {
  const streams = flags.int('http2-max-streams-per-connection')
  return {
    http: {
      goawayChance: flags.float('goaway-chance'),
      corsAllowedOrigins: flags.list('cors-allowed-origins'),
      strictTransportSecurity: flags.list('strict-transport-security-directives'),
      shutdownSendRetryAfter: flags.bool('shutdown-send-retry-after'),
    },
    ...(streams && { limits: { streams } }),
    eventTtlMs: flags.durationMs('event-ttl'),
    livezGraceMs: flags.durationMs('livez-grace-period'),
    minRequestTimeoutSeconds: flags.int('min-request-timeout'),
    objectCountMs: flags.durationMs('etcd-count-metric-poll-period'),
    storeHealth: {
      healthMs: flags.durationMs('etcd-healthcheck-timeout'),
      readyMs: flags.durationMs('etcd-readycheck-timeout'),
    },
    shutdownDelayMs: flags.durationMs('shutdown-delay-duration'),
    watchTerminationGraceMs: flags.durationMs('shutdown-watch-termination-grace-period'),
  }
}

/** Options of the endpoints of the Service `kubernetes`. */
export function endpointOptions(flags: FlagValues): Pick<ApiServerOptions, 'endpointReconciler' | 'serverCount'> {
  const type = flags.text('endpoint-reconciler-type') ?? ''
  const serverCount = flags.int('apiserver-count')
  return {
    ...(isReconciler(type) && { endpointReconciler: type }),
    ...(serverCount !== undefined && { serverCount }),
  }
}
