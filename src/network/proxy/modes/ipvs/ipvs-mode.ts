/**
 * The mode ipvs of kube-proxy: the kernel's virtual servers balance connections to the addresses of Services, which the
 * interface kube-ipvs0 has; a fixed number of rules of iptables with sets masquerades and filters. A sync changes the
 * virtual servers, sets and addresses of changed Services.
 */
import { parseCidr, rangeHas } from '../../../../lib/cidr.ts'
import { findIptables, type IptablesPrograms } from '../../../iptables/iptables-programs.ts'
import { serviceText, type VirtualService } from '../../../netlink/ipvs/virtual-service.ts'
import type { ServicePicture } from '../../picture/service-picture.ts'
import { checkLocalTraffic } from '../iptables/rules/rule-options.ts'
import type { IpvsSettings, ModeOptions } from '../mode-options.ts'
import type { ChangedServices, ProxyMode } from '../proxy-mode.ts'
import { cleanUpIpvs } from './clean-up.ts'
import { prepareKernel } from './kernel-parameters.ts'
import { type IpvsMachine, machineOf } from './machine.ts'
import { type ChainRules, chainRules } from './rules/chain-rules.ts'
import { changeSets, replaceSets, type SetKey } from './rules/ip-sets.ts'
import { chainsText, fullText } from './rules/rules-text.ts'
import { VirtualServers } from './servers/virtual-servers.ts'
import { ServiceInterface } from './service-interface.ts'
import { isLoopback, type NodeFacts, serviceObjects } from './wanted/service-objects.ts'
import { WantedState } from './wanted/wanted-state.ts'

const defaultSettings: IpvsSettings = {
  scheduler: 'rr',
  excludedCidrs: [],
  strictArp: false,
  timeouts: { tcp: 0, tcpFin: 0, udp: 0 },
}

/**
 * Needs root, the module ip_vs, the programs ipset and iptables, and the optional package koffi.
 * @throws if koffi is not installed.
 */
export function createIpvsMode(options: ModeOptions, machine: IpvsMachine = machineOf()): ProxyMode {
  return new IpvsMode(options, machine)
}

class IpvsMode implements ProxyMode {
  readonly #options: ModeOptions
  readonly #settings: IpvsSettings
  readonly #machine: IpvsMachine
  readonly #interface: ServiceInterface
  readonly #servers: VirtualServers
  /** Services with an address of loopback, which the kernel does not forward; they are logged once. */
  readonly #logged = new Set<string>()
  #state = new WantedState()
  #programs: IptablesPrograms | undefined
  #isPrepared = false
  /** The facts and rules in effect; undefined until all is, and after a failure. */
  #inEffect: { readonly facts: NodeFacts; readonly rules: string } | undefined

  constructor(options: ModeOptions, machine: IpvsMachine) {
    checkLocalTraffic('ipvs', options.localTraffic)
    this.#options = options
    this.#settings = options.ipvs ?? defaultSettings
    this.#machine = machine
    this.#interface = new ServiceInterface(machine.withNetwork, options.family)
    this.#servers = new VirtualServers({ ...machine, log: options.log })
  }

  async sync(picture: ServicePicture, changed: ChangedServices): Promise<void> {
    const inEffect = this.#inEffect
    this.#inEffect = undefined
    if (changed === 'all' || !inEffect) {
      this.#inEffect = await this.#syncAll(picture)
      return
    }
    const rules = await this.#syncChanged(picture, changed, inEffect)
    this.#inEffect = { ...inEffect, rules }
  }

  async wasFlushed(): Promise<boolean> {
    if (!this.#inEffect) return true
    const missing = await this.#missingPart()
    if (missing) this.#options.log(`${missing}: another program removed what Services need`)
    return missing !== undefined
  }

  async stop(): Promise<void> {
    this.#servers.stop()
  }

  async cleanUp(): Promise<void> {
    this.#inEffect = undefined
    this.#servers.stop()
    await cleanUpIpvs(this.#options, this.#machine, this.#interface)
  }

  async #syncAll(picture: ServicePicture): Promise<{ readonly facts: NodeFacts; readonly rules: string }> {
    const { family, runProgram } = this.#options
    this.#prepare()
    const programs = await this.#findPrograms()
    const facts = this.#readFacts()
    this.#state = new WantedState()
    for (const key of picture.keys()) this.#compute(picture, key, facts)
    this.#state.takeChanges()
    const entries = [...this.#state.entries()]
    await runProgram('ipset', ['-exist', 'restore'], replaceSets(family, entries))
    this.#servers.replaceAll(this.#state.services(), (service) => this.#isOwn(service))
    this.#interface.replaceAll(addressesOf(entries))
    const chains = this.#chains(programs)
    await programs.restore(fullText(chains, await programs.save()))
    return { facts, rules: chainsText(chains) }
  }

  /** Returns the rules that are in effect then. */
  async #syncChanged(
    picture: ServicePicture,
    changed: ReadonlySet<string>,
    { facts, rules }: { readonly facts: NodeFacts; readonly rules: string },
  ): Promise<string> {
    const { family, runProgram } = this.#options
    for (const key of changed) this.#compute(picture, key, facts)
    const { addedEntries, removedEntries, services, removedServices } = this.#state.takeChanges()
    const input = changeSets(family, removedEntries, addedEntries)
    if (input !== '') await runProgram('ipset', ['-exist', 'restore'], input)
    this.#servers.change(services, removedServices)
    this.#interface.change([...addressesOf(addedEntries)], [...addressesOf(removedEntries)])
    const programs = await this.#findPrograms()
    const wanted = chainsText(this.#chains(programs))
    if (wanted !== rules) await programs.restore(wanted)
    return wanted
  }

  #prepare(): void {
    if (this.#isPrepared) return
    const { strictArp, timeouts } = this.#settings
    prepareKernel(this.#machine.settings, strictArp, this.#machine.release, this.#options.log)
    if (timeouts.tcp + timeouts.tcpFin + timeouts.udp > 0) this.#machine.withIpvs((ipvs) => ipvs.setTimeouts(timeouts))
    this.#isPrepared = true
  }

  async #findPrograms(): Promise<IptablesPrograms> {
    this.#programs ??= await findIptables(this.#options.runProgram, this.#options.family)
    return this.#programs
  }

  #readFacts(): NodeFacts {
    const { family, nodeAddress } = this.#options
    const machineAddresses = this.#interface.otherAddresses()
    const { addresses } = this.#options.nodePortAddresses()
    return {
      family,
      scheduler: this.#settings.scheduler,
      nodeAddress,
      machineAddresses,
      nodePortAddresses: addresses.filter((address) => machineAddresses.has(address)),
    }
  }

  #compute(picture: ServicePicture, key: string, facts: NodeFacts): void {
    const ports = picture.get(key)
    this.#state.set(key, ports && serviceObjects(ports, facts))
    const unserved = ports?.flatMap(({ loadBalancerIPs }) => loadBalancerIPs).find(isLoopback)
    if (unserved === undefined) this.#logged.delete(key)
    if (unserved === undefined || this.#logged.has(key)) return
    this.#logged.add(key)
    this.#options.log(
      `the load balancer ${unserved} of ${key} does not work in the mode ipvs, which cannot forward connections from ` +
        'loopback: give it an address of another range (--load-balancer-pool), or use the mode nftables',
    )
  }

  #chains({ hasRandomFully }: IptablesPrograms): ChainRules[] {
    const { family, localTraffic, masqueradeAll, masqueradeBit } = this.#options
    const used = new Set<SetKey>()
    for (const { set } of this.#state.entries()) used.add(set)
    return chainRules(
      {
        ...{ family, localTraffic, masqueradeAll, hasRandomFully },
        masqueradeMark: `0x${(2 ** masqueradeBit).toString(16)}`,
      },
      (set) => used.has(set),
      this.#state.blocked(),
    )
  }

  /** As upstream: all virtual servers of the family, except for those of excluded ranges. */
  #isOwn({ address }: VirtualService): boolean {
    const bits = this.#options.family === 4 ? 32 : 128
    if (parseCidr(`${address}/${bits}`)?.family !== this.#options.family) return false
    return !this.#settings.excludedCidrs.some((range) => rangeHas(range, address))
  }

  async #missingPart(): Promise<string | undefined> {
    const programs = await this.#findPrograms()
    for (const table of ['nat', 'filter'] as const) {
      const chain = table === 'nat' ? 'KUBE-SERVICES' : 'KUBE-IPVS-FILTER'
      if (!(await programs.hasChain(table, chain))) return `the chain ${chain} of the table ${table} is missing`
    }
    const addresses = this.#interface.addresses()
    const wanted = addressesOf(this.#state.entries())
    const address = [...wanted].find((ip) => !addresses.has(ip))
    if (address !== undefined) return `the interface kube-ipvs0 lacks ${address}`
    const found = new Set(this.#machine.withIpvs((ipvs) => ipvs.services()).map(serviceText))
    const service = [...this.#state.services().keys()].find((text) => !found.has(text))
    return service === undefined ? undefined : `the virtual service ${service} is missing`
  }
}

function addressesOf(entries: Iterable<{ readonly set: SetKey; readonly entry: string }>): Set<string> {
  const found = new Set<string>()
  for (const { set, entry } of entries) if (set === 'ipvsIps') found.add(entry)
  return found
}
