/** kube-proxy of a cluster's real node: it makes Services work on this machine, beside those of other clusters. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { messageOf } from '../../../lib/message-of.ts'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { runRulesProgram } from '../../../network/cni/host-ports/run-rules-program.ts'
import type { LocalTraffic, ServedInterfaces } from '../../../network/proxy/modes/mode-options.ts'
import { bestMode, isModeName, type ModeName, modeNames, modeOf } from '../../../network/proxy/modes/mode-registry.ts'
import { cleanUpMode, type RunningProxy, startProxy } from '../../../network/proxy/start-proxy.ts'
import { bridgePrefix } from '../settings/embedded-runtime.ts'
import type { ProxyChoice } from '../settings/proxy-choice.ts'
import type { ClientCredentials } from '../thread/messages.ts'

/** The settings of the proxy, as plain data for the thread of the node. */
export interface EmbeddedProxy {
  /** Undefined for the best one of this machine. */
  readonly choice: ProxyChoice | undefined
  /** The certificate of `system:kube-proxy`. */
  readonly client: ClientCredentials
  /** Distinguishes its rules from those of other clusters. */
  readonly instance: string
  /** The bridge of the pods; undefined if another runtime connects them. */
  readonly bridge: string | undefined
  /** The file with the mode whose rules are on the machine. */
  readonly record: string
}

export interface EmbeddedProxyOptions {
  readonly node: string
  /** The node's primary address. */
  readonly address: string | undefined
  readonly server: { readonly url: string; readonly ca: string }
  readonly proxy: EmbeddedProxy
  readonly log: (line: string) => void
}

export interface RunningEmbeddedProxy {
  /** Stops it; its rules remain. */
  stop(): Promise<void>
  /** Removes its rules. */
  cleanUp(): Promise<void>
}

/** Intervals of syncs in ms: those of upstream's defaults. */
const times = { minIntervalMs: 1_000, periodMs: 30_000 }
const masqueradeBit = 14

/** Starts in the background; errors are logged. */
export function startEmbeddedProxy(options: EmbeddedProxyOptions): RunningEmbeddedProxy {
  const { proxy, log } = options
  let running: RunningProxy | undefined
  let isStopped = false
  const starting = begin().catch((error) => log(`Services do not work: ${messageOf(error)}`))

  async function begin(): Promise<void> {
    const mode = await settledMode(proxy, log)
    await removeFormer(proxy, mode, log)
    if (mode === 'none' || isStopped) return
    // The rules outlive the process, so the file comes first.
    writeFileSync(proxy.record, mode, { mode: 0o600 })
    running = startProxy({ ...proxyOptions(options), mode })
    await running.synced
  }

  return {
    async stop() {
      isStopped = true
      await running?.stop()
      await starting
    },
    cleanUp: () => removeFormer(proxy, 'none', log),
  }
}

/** The chosen mode, or the best one; of modes for one cluster only, another one if a cluster has it. */
async function settledMode({ choice }: EmbeddedProxy, log: (line: string) => void): Promise<ProxyChoice> {
  if (choice === 'none') return choice
  if (choice) await modeOf(choice).check(runRulesProgram)
  const mode = choice ?? (await bestMode(runRulesProgram))
  if (modeOf(mode).isShareable || (await isAlone(mode))) return mode
  const others = modeNames.filter((name) => modeOf(name).isShareable)
  const other = await bestMode(runRulesProgram, others)
  log(`another cluster on this machine uses the proxy mode ${mode}: Services of this one work by ${other}`)
  return other
}

/**
 * Takes the mode for this process, until its end, and the modes that share its chains. Abstract sockets belong to the
 * network namespace, as rules do.
 */
async function isAlone(mode: ModeName): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const lock = createServer().unref()
  lock.once('error', () => resolve(false))
  lock.listen(`\0t8s-kube-proxy-${modeOf(mode).replaces[0] ?? mode}`, () => resolve(true))
  return promise
}

/** Removes the rules of an earlier start with another mode. */
async function removeFormer(proxy: EmbeddedProxy, mode: ProxyChoice, log: (line: string) => void): Promise<void> {
  const former = readRecord(proxy.record)
  if (former === undefined || former === mode) return
  if (mode !== 'none' && modeOf(mode).replaces.includes(former)) return
  try {
    await cleanUpMode(former, { instance: proxy.instance, servedInterfaces: servedInterfaces(proxy), log })
    rmSync(proxy.record, { force: true })
  } catch (error) {
    log(`rules of Services of an earlier start remain: ${messageOf(error)}`)
  }
}

/** Removes the rules that the proxy of an earlier process has left. */
export const removeProxyRules = (
  record: string,
  { name, bridge }: { readonly name: string; readonly bridge: string },
  log: (line: string) => void,
): Promise<void> => removeFormer({ choice: undefined, client: {}, instance: name, bridge, record }, 'none', log)

function readRecord(file: string): ModeName | undefined {
  try {
    const name = readFileSync(file, 'utf8').trim()
    return isModeName(name) ? name : undefined
  } catch {
    return undefined
  }
}

const servedInterfaces = ({ bridge }: EmbeddedProxy): ServedInterfaces | undefined =>
  bridge === undefined ? undefined : { ownBridge: bridge, bridgePrefix }

const proxyOptions = ({ node, address, server, proxy, log }: EmbeddedProxyOptions) => ({
  server: { ...server, ...proxy.client },
  node,
  bindAddress: address,
  localTraffic: (family: 4 | 6, { podCidrs }: { readonly podCidrs: readonly string[] }): LocalTraffic => {
    if (proxy.bridge !== undefined) return { kind: 'bridge', name: proxy.bridge }
    const cidrs = podCidrs.filter((cidr) => cidr.includes(':') === (family === 6))
    return cidrs.length > 0 ? { kind: 'cidrs', cidrs } : { kind: 'none' }
  },
  // As upstream's nftables mode.
  nodePortRanges: ['primary'],
  masqueradeAll: false,
  masqueradeBit,
  localhostNodePorts: false,
  servedInterfaces: servedInterfaces(proxy),
  instance: proxy.instance,
  times,
  metrics: new MetricsRegistry(),
  log,
})
