/** The kubelet's HTTP servers: logs, streams, pages and usage. */
import { join } from 'node:path'
import { parseDurationMs } from '../../lib/duration.ts'
import type { AccessRules } from '../../node/server/access.ts'
import type { ReviewTimes } from '../../node/server/callers.ts'
import type { KubeletConfiguration } from '../configuration/defaults.ts'
import { KubeletServers } from '../server/kubelet-servers.ts'
import { Health, syncLoopCheck } from '../server/pages/health.ts'
import { kubeletStats } from '../stats/kubelet-stats.ts'
import { component } from './parts.ts'

const resyncMs = 60_000

export const server = component({
  name: 'server',
  needs: [
    'options',
    'client',
    'registry',
    'verbosity',
    'usage',
    'runtime',
    'runtimeName',
    'changes',
    'node',
    'desired',
    'status',
    'probeMetrics',
  ],
  gives: ['port'],
  async start(parts, lifetime) {
    const { options, registry, verbosity, runtime, runtimeName, changes, node, desired, status, probeMetrics } = parts
    const { configuration, root, podLogs, serving, clientCA, tlsLimits = {}, log } = options
    const { healthzBindAddress, healthzPort, readOnlyPort, enableDebuggingHandlers: debugging } = configuration
    const servers = new KubeletServers({
      client: parts.client,
      address: configuration.address,
      port: configuration.port,
      tls: serving.current,
      clientCA,
      access: accessRules(configuration),
      reviewTimes: reviewTimes(configuration),
      tlsLimits,
      hasCore: configuration.enableServer,
      registry,
      verbosity,
      // Port 0 in the configuration turns these off.
      healthz: healthzPort > 0 ? { address: healthzBindAddress, port: healthzPort } : undefined,
      readOnlyPort: readOnlyPort > 0 ? readOnlyPort : undefined,
      nodeName: node.name,
      runtime,
      runtimeName,
      pods: {
        all: () => desired.pods,
        mirrors: () => desired.mirrors,
        statusOf: (uid) => status.statusOf(uid),
        staticPodOf: (mirror) => desired.staticOf(mirror),
      },
      logRoots: [podLogs],
      redirects: options.redirectContainerStreaming ?? false,
      health: new Health([syncLoopCheck(() => changes.lastCompared, resyncMs, Date.now)], log),
      stats: kubeletStats(parts.usage),
      metrics: () => registry.render(),
      probeMetrics: () => probeMetrics.render(),
      configuration: () => configuration,
      setVerbosity(level) {
        verbosity.level = level
      },
      checkpointFolder: join(root, 'checkpoints'),
      systemLogFolder: '/var/log',
      profile: options.profile ?? (() => undefined),
      enabled: {
        debugging,
        systemLogs: configuration.enableSystemLogHandler,
        debugFlags: configuration.enableDebugFlagsHandler,
        profiling: configuration.enableProfilingHandler,
      },
      now: Date.now,
      log,
    })
    lifetime.onEnd(() => servers.close())
    serving.onChange((pair) => servers.setCertificate(pair))
    return { port: (await servers.listen()).core }
  },
})

const accessRules = ({ authentication, authorization }: KubeletConfiguration): AccessRules => ({
  acceptsAnonymous: authentication.anonymous?.enabled ?? false,
  acceptsTokens: authentication.webhook?.enabled ?? true,
  authorizes: authorization.mode !== 'AlwaysAllow',
})

function reviewTimes({ authentication, authorization }: KubeletConfiguration): ReviewTimes {
  const ms = (text: string | undefined, usual: number): number => parseDurationMs(text ?? '') ?? usual
  return {
    tokenMs: ms(authentication.webhook?.cacheTTL, 120_000),
    allowedMs: ms(authorization.webhook?.cacheAuthorizedTTL, 300_000),
    deniedMs: ms(authorization.webhook?.cacheUnauthorizedTTL, 30_000),
  }
}
