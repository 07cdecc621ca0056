/**
 * The iptables mode of kube-proxy: upstream's chains, so that people and programs find what they know. A sync is one
 * run of `iptables-restore --noflush` with what changed; rules of others are not touched.
 */

import {
  findIptables,
  type IptablesPrograms,
  type IptablesVariant,
  installedVariants,
} from '../../../iptables/iptables-programs.ts'
import type { ServicePicture } from '../../picture/service-picture.ts'
import type { ModeOptions } from '../mode-options.ts'
import type { ChangedServices, ProxyMode } from '../proxy-mode.ts'
import { cleanUpRules } from './clean-up.ts'
import { type KernelSettings, kernelSettings } from './kernel-settings.ts'
import { canaryChain } from './rules/fixed-rules.ts'
import { checkLocalTraffic, type RuleOptions } from './rules/rule-options.ts'
import { WrittenServices } from './written-services.ts'

const routeLocalnet = 'net/ipv4/conf/all/route_localnet'
const conntrackLiberal = 'net/netfilter/nf_conntrack_tcp_be_liberal'
const monitoredTables = ['mangle', 'nat', 'filter'] as const

/** @param variant Default: the variant that other programs use, see `findIptables`. */
export function createIptablesMode(
  options: ModeOptions,
  variant?: IptablesVariant,
  settings: KernelSettings = kernelSettings,
): ProxyMode {
  return new IptablesMode(options, variant, settings)
}

class IptablesMode implements ProxyMode {
  readonly #options: ModeOptions
  readonly #variant: IptablesVariant | undefined
  readonly #settings: KernelSettings
  readonly #services = new WrittenServices()
  #programs: IptablesPrograms | undefined
  /** Undefined until all is in effect, and after a failure. */
  #inEffect: RuleOptions | undefined

  constructor(options: ModeOptions, variant: IptablesVariant | undefined, settings: KernelSettings) {
    checkLocalTraffic('iptables', options.localTraffic)
    this.#options = options
    this.#variant = variant
    this.#settings = settings
  }

  async sync(picture: ServicePicture, changed: ChangedServices): Promise<void> {
    const programs = await this.#findPrograms()
    const inEffect = this.#inEffect
    this.#inEffect = undefined
    if (changed === 'all' || !inEffect) {
      const options = this.#ruleOptions(programs)
      await programs.restore(this.#services.writeAll(picture, options, await programs.save()))
      this.#inEffect = options
      return
    }
    const text = this.#services.writeChanged(picture, changed, inEffect)
    if (text !== '') await programs.restore(text)
    this.#inEffect = inEffect
  }

  async wasFlushed(): Promise<boolean> {
    const programs = await this.#findPrograms()
    for (const table of monitoredTables)
      if (!(await programs.hasChain(table, canaryChain))) {
        this.#options.log(
          `the chain ${canaryChain} of the table ${table} is missing: another program flushed the rules`,
        )
        return true
      }
    return false
  }

  /** The rules do all the work. */
  async stop(): Promise<void> {}

  async cleanUp(): Promise<void> {
    this.#inEffect = undefined
    const { family, runProgram } = this.#options
    for (const programs of await installedVariants(runProgram, family)) await cleanUpRules(programs)
  }

  async #findPrograms(): Promise<IptablesPrograms> {
    if (this.#programs) return this.#programs
    const { family, runProgram, log } = this.#options
    this.#programs = await findIptables(runProgram, family, this.#variant)
    log(`the iptables mode uses the ${this.#programs.variant} variant of iptables for IPv${family}`)
    return this.#programs
  }

  /** Reads what may change while the proxy runs. */
  #ruleOptions({ hasRandomFully }: IptablesPrograms): RuleOptions {
    const { family, nodeAddress, localTraffic, masqueradeAll, masqueradeBit, localhostNodePorts } = this.#options
    const nodePortAddresses = this.#options.nodePortAddresses()
    const includesLoopback = nodePortAddresses.isAll || nodePortAddresses.addresses.some((ip) => ip.startsWith('127.'))
    const servesLocalhost = family === 4 && localhostNodePorts && includesLoopback
    if (servesLocalhost && this.#settings.read(routeLocalnet) !== '1') {
      this.#settings.write(routeLocalnet, '1')
      this.#options.log(`set ${routeLocalnet} to 1: node ports serve connections to 127.0.0.1`)
    }
    return {
      ...{ family, nodeAddress, nodePortAddresses, localTraffic, masqueradeAll, hasRandomFully },
      masqueradeMark: `0x${(2 ** masqueradeBit).toString(16)}`,
      localhostNodePorts: servesLocalhost,
      isConntrackLiberal: this.#settings.read(conntrackLiberal) === '1',
    }
  }
}
