/** flannel for a node of any cluster (`t8s flannel`): from flags to a network that works. */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { FlagValues } from '../../apiserver/serving-flags/parse.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { Lifetime } from '../../lib/lifetime/lifetime.ts'
import { notifyReady } from '../../lib/linux/service-manager.ts'
import { systemCalls } from '../../lib/linux/system-calls.ts'
import { messageOf } from '../../lib/message-of.ts'
import { runRulesProgram } from '../../network/cni/host-ports/run-rules-program.ts'
import type { BackendNetwork } from '../../network/flannel/backends/backend.ts'
import { backendOf } from '../../network/flannel/backends/registry.ts'
import type { NetworkConfig } from '../../network/flannel/config/network-config.ts'
import type { ExternalInterface } from '../../network/flannel/interface/external-interface.ts'
import { findInterface } from '../../network/flannel/interface/find-interface.ts'
import { TrafficKeeper } from '../../network/flannel/masquerade/traffic-keeper.ts'
import { BlackholeRoute } from '../../network/flannel/run/blackhole-route.ts'
import { NetworkLoop } from '../../network/flannel/run/network-loop.ts'
import { defaultSubnetFile, writeSubnetFile } from '../../network/flannel/subnet-file/subnet-file.ts'
import type { SubnetManager } from '../../network/flannel/subnets/subnet-manager.ts'
import { withHostNetwork } from '../../network/netlink/host-network.ts'
import { serveHealth } from './health.ts'
import { checkKernel, checkRoot } from './kernel-checks.ts'
import { createSubnetManager } from './subnet-managers.ts'

export interface FlannelOptions {
  readonly flags: FlagValues
  readonly environment: NodeJS.ProcessEnv
  readonly log: (line: string) => void
  /** Ends flannel; the network remains. */
  readonly signal: AbortSignal
}

/** Until the network's configuration can be read, in ms. */
const configRetryMs = 1000

/**
 * Resolves when the signal is aborted. Rejects with an ExplainedError for unusable flags and machines, and if the node
 * loses its subnet: flannel must be started again.
 */
export async function runFlannel(options: FlannelOptions): Promise<void> {
  checkRoot()
  const lifetime = new Lifetime()
  try {
    const subnets = await createSubnetManager(options)
    lifetime.onEnd(() => subnets.stop())
    options.log(`Created subnet manager: ${subnets.name}`)
    await new FlannelRun(options, subnets, lifetime).run()
  } catch (error) {
    if (options.signal.aborted) return
    throw error instanceof ExplainedError ? error : new ExplainedError(reasonOf(error), { cause: error })
  } finally {
    await lifetime.end()
  }
}

class FlannelRun {
  readonly #options: FlannelOptions
  readonly #subnets: SubnetManager
  readonly #lifetime: Lifetime
  #isReady = false

  constructor(options: FlannelOptions, subnets: SubnetManager, lifetime: Lifetime) {
    this.#options = options
    this.#subnets = subnets
    this.#lifetime = lifetime
  }

  async run(): Promise<void> {
    const { log, signal } = this.#options
    await this.#serveHealth()
    const config = await this.#readConfig()
    checkKernel(config, log)
    const external = await this.#findInterface(config)
    const network = await this.#register(config, external)
    const loop = new NetworkLoop({ network, subnets: this.#subnets, calls: systemCalls(), log })
    this.#lifetime.onEnd(() => loop.stop())
    await this.#keepTraffic(config, network)
    this.#writeSubnetFile(config, network)
    log('Running backend.')
    this.#notifyReady()
    const complete = this.#subnets.completeLease(network.lease, signal)
    void loop.applied.then(() => log('the leases of all nodes are in effect'))
    await Promise.race([complete, loop.run().then(() => complete)])
  }

  #notifyReady(): void {
    const { environment, log } = this.#options
    try {
      notifyReady(systemCalls(), environment)
    } catch (error) {
      log(`Failed to notify systemd the message READY=1 ${messageOf(error)}`)
    }
  }

  async #serveHealth(): Promise<void> {
    const { flags, log } = this.#options
    const port = flags.int('healthz-port') ?? 0
    if (port <= 0) return
    const ip = flags.text('healthz-ip') ?? '0.0.0.0'
    const pages = await serveHealth(ip, port, () => this.#isReady)
    log(`Start healthz server on ${ip}, port ${pages.port}`)
    this.#lifetime.onEnd(() => pages.close())
  }

  /** As upstream, flannel waits for a configuration. */
  async #readConfig(): Promise<NetworkConfig> {
    const { log, signal } = this.#options
    for (let logged = ''; ; ) {
      try {
        const config = await this.#subnets.networkConfig(signal)
        log(`Found network config - Backend type: ${config.backendType}`)
        return config
      } catch (error) {
        signal.throwIfAborted()
        const problem = messageOf(error)
        if (problem !== logged) log(`Couldn't fetch network config: ${problem}`)
        logged = problem
        await delay(configRetryMs, undefined, { signal })
      }
    }
  }

  async #findInterface(config: NetworkConfig): Promise<ExternalInterface> {
    const { flags, log, signal } = this.#options
    const stored = await this.#subnets.storedNode(signal)
    const options = {
      names: flags.all('iface'),
      patterns: flags.all('iface-regex'),
      canReach: flags.text('iface-can-reach') || undefined,
      publicIP: stored.publicIP ?? (flags.text('public-ip') || undefined),
      publicIPv6: stored.publicIPv6 ?? (flags.text('public-ipv6') || undefined),
    }
    const found = withHostNetwork(systemCalls(), undefined, (host) => findInterface(host, options, config))
    const { name, address, ipv6Address, publicIP, publicIPv6 } = found
    const both = (one: string | undefined, other: string | undefined): string =>
      [one, other].filter((text) => text !== undefined).join(' and ')
    log(`Using interface with name ${name} and address ${both(address, ipv6Address)}`)
    log(`Using ${both(publicIP, publicIPv6)} as external address`)
    return found
  }

  async #register(config: NetworkConfig, external: ExternalInterface): Promise<BackendNetwork> {
    const { log, environment, signal } = this.#options
    try {
      const backend = await backendOf(config.backendType)
      return await backend.register({
        config,
        external,
        subnets: this.#subnets,
        calls: systemCalls(),
        log,
        environment,
        random: randomBytes,
        signal,
      })
    } catch (error) {
      throw new ExplainedError(`Error registering network: ${messageOf(error)}`, { cause: error })
    }
  }

  async #keepTraffic(config: NetworkConfig, { lease }: BackendNetwork): Promise<void> {
    const { flags, log } = this.#options
    const resyncMs = Math.max(1, flags.int('iptables-resync') ?? 5) * 1000
    const keeper = new TrafficKeeper({
      config,
      lease,
      masquerade: flags.bool('ip-masq') ?? false,
      forward: flags.bool('iptables-forward-rules') ?? true,
      randomFully: !flags.bool('ip-masq-fully-random-disable'),
      resyncMs,
      run: runRulesProgram,
      log,
    })
    this.#lifetime.onEnd(() => keeper.stop())
    await keeper.start().catch((error) => {
      throw new ExplainedError(`Failed to setup masq rules, ${messageOf(error)}`, { cause: error })
    })
    if (!flags.bool('ip-blackhole-route')) return
    const blackhole = new BlackholeRoute(systemCalls(), lease, resyncMs, log)
    this.#lifetime.onEnd(() => blackhole.stop())
    blackhole.start()
  }

  #writeSubnetFile(config: NetworkConfig, { lease, mtu }: BackendNetwork): void {
    const { flags, log } = this.#options
    const path = flags.text('subnet-file') ?? defaultSubnetFile
    const { network, ipv6Network } = config
    const { subnet, ipv6Subnet } = lease
    const masquerade = flags.bool('ip-masq') ?? false
    try {
      writeSubnetFile(path, { network, subnet, ipv6Network, ipv6Subnet, mtu, masquerade })
      log(`Wrote subnet file to ${path}`)
      this.#isReady = true
      log('flannel is ready')
    } catch (error) {
      // As upstream, flannel goes on, and is not ready.
      log(`Failed to write subnet file ${path} (--subnet-file): ${reasonOf(error)}`)
    }
  }
}
