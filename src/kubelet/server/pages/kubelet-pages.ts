/** The documents of the kubelet's HTTP servers, in their groups: default ones, debugging, and the node's logs. */
import { writeJson } from '../../../lib/exact-json.ts'
import { HttpError } from '../../../node/http-error.ts'
import type { Page, PageRequest } from '../../../node/server/served-nodes.ts'
import { containerPathOf } from '../../../node/server/target.ts'
import type { CriRuntime } from '../../cri/runtime.ts'
import type { Pod } from '../../pod-types.ts'
import { runPage } from '../streams/run-command.ts'
import { runningPods } from '../streams/runtime-containers.ts'
import { checkpointPage } from './checkpoint.ts'
import type { Health } from './health.ts'
import type { ServedPods } from './served-pods.ts'
import { systemLogsPage } from './system-logs.ts'

/** Usage of the node and its pods. */
export interface ServedStats {
  /** The Summary API's document. */
  summary(onlyCpuAndMemory: boolean): Promise<object>
  /** Metrics in Prometheus' text format. */
  resourceMetrics(): Promise<string>
  cadvisorMetrics(): Promise<string>
}

export interface KubeletPagesOptions {
  readonly pods: ServedPods
  readonly runtime: Pick<CriRuntime, 'containers' | 'exec' | 'checkpoint'>
  readonly health: Health
  readonly stats: ServedStats
  /** The kubelet's own metrics and those of its probes, in Prometheus' text format. */
  readonly metrics: () => string
  readonly probeMetrics: () => string
  /** The KubeletConfiguration in effect. */
  readonly configuration: () => object
  readonly setVerbosity: (level: number) => void
  /** The folder of archives of checkpoints, `/var/lib/kubelet/checkpoints`. */
  readonly checkpointFolder: string
  /** `/var/log`. */
  readonly systemLogFolder: string
  /** Profiles of the process by their paths; undefined for other paths. */
  readonly profile: (request: PageRequest) => Promise<Page> | undefined
  /**
   * `enableDebuggingHandlers`, `enableSystemLogHandler`, `enableDebugFlagsHandler` and `enableProfilingHandler`. The
   * others need the first.
   */
  readonly enabled: Readonly<Record<'debugging' | 'systemLogs' | 'debugFlags' | 'profiling', boolean>>
  readonly now: () => number
}

const debuggingKinds = new Set([
  'run',
  'exec',
  'attach',
  'portForward',
  'containerLogs',
  'configz',
  'runningpods',
  'cri',
])

const prometheusText = 'text/plain; version=0.0.4; charset=utf-8'

export class KubeletPages {
  readonly #options: KubeletPagesOptions

  constructor(options: KubeletPagesOptions) {
    this.#options = options
  }

  /** Throws 405 for a path whose group is turned off. `kind` is the first part of the path. */
  checkEnabled(kind: string, path = ''): void {
    const { debugging, systemLogs, debugFlags, profiling } = this.#options.enabled
    const isProfile = /^\/debug\/pprof(\/|$)/.test(path)
    if (!debugging && (debuggingKinds.has(kind) || isProfile))
      throw new HttpError(405, 'Debug endpoints are disabled.\n')
    if (!(debugging && systemLogs) && kind === 'logs') throw new HttpError(405, 'logs endpoint is disabled.\n')
    if (!(debugging && debugFlags) && path.startsWith('/debug/flags/'))
      throw new HttpError(405, 'flags endpoint is disabled.\n')
    if (!profiling && isProfile) throw new HttpError(405, 'profiling endpoint is disabled.\n')
  }

  /** A page of the core server; undefined for an unknown path. */
  async page(request: PageRequest): Promise<Page | undefined> {
    const { path, parts, method, query } = request
    const [kind = ''] = parts
    this.checkEnabled(kind, path)
    const { pods, runtime, now } = this.#options
    switch (kind) {
      case 'run':
        requireMethod(method, 'POST')
        return runPage(runtime, pods, containerPathOf(request), query)
      case 'runningpods':
        requireMethod(method, 'GET')
        return podList(await runningPods(runtime))
      case 'configz':
        return jsonPage(writeJson({ kubeletconfig: this.#options.configuration() }))
      case 'logs':
        requireMethod(method, 'GET', 'HEAD')
        return systemLogsPage(this.#options.systemLogFolder, parts.slice(1).filter(Boolean), path)
      case 'checkpoint':
        requireMethod(method, 'POST')
        return checkpointPage(
          { runtime, pods, folder: this.#options.checkpointFolder, now },
          containerPathOf(request),
          query,
        )
      case 'debug':
        return path === '/debug/flags/v' ? this.#setVerbosity(request) : this.#options.profile(request)
      default:
        return this.defaultPage(request)
    }
  }

  /** A page of the default group, which the read-only server has, too. */
  async defaultPage({ path, method, query }: PageRequest): Promise<Page | undefined> {
    const { health, stats, pods, metrics, probeMetrics } = this.#options
    if (path.startsWith('/healthz')) return health.page(path, query)
    requireMethod(method, 'GET', ...(path.startsWith('/stats') ? ['POST'] : []))
    switch (path.replace(/\/$/, '')) {
      case '/pods':
        return podList(pods.all())
      case '/stats/summary':
        return jsonPage(writeJson(await stats.summary(isTrue(query.get('only_cpu_and_memory')))))
      case '/metrics':
        return { type: prometheusText, text: metrics() }
      case '/metrics/probes':
        return { type: prometheusText, text: probeMetrics() }
      case '/metrics/resource':
        return { type: prometheusText, text: await stats.resourceMetrics() }
      case '/metrics/cadvisor':
        return { type: prometheusText, text: await stats.cadvisorMetrics() }
      default:
        return undefined
    }
  }

  async #setVerbosity({ method, body }: PageRequest): Promise<Page> {
    if (method !== 'PUT') return { status: 406, type: 'text/plain', text: 'unsupported http method' }
    const text = await body()
    if (!/^-?\d{1,9}$/.test(text)) {
      const reason = `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`
      return { status: 400, type: 'text/plain', text: `failed set klog.logging.verbosity ${text}: ${reason}` }
    }
    this.#options.setVerbosity(Number(text))
    return { type: 'text/plain', text: `successfully set klog.logging.verbosity to ${text}` }
  }
}

function requireMethod(method: string, ...allowed: string[]): void {
  if (!allowed.includes(method)) throw new HttpError(405, '405: Method Not Allowed', { Allow: allowed.join(', ') })
}

const isTrue = (text: string | null): boolean => /^(1|t|true)$/i.test(text ?? '')

const jsonPage = (text: string): Page => ({ type: 'application/json', text })

const podList = (items: readonly Pod[]): Page =>
  jsonPage(
    `${writeJson({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: items.length > 0 ? items : null })}\n`,
  )
