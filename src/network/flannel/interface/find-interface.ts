/** Chooses the interface to other nodes, as upstream does: by flags, else the one of the default route. */
import { isIP } from 'node:net'
import { rangeHas } from '../../../lib/cidr.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { Addresses } from '../../netlink/addresses.ts'
import type { Link, Links } from '../../netlink/links.ts'
import type { Routes } from '../../netlink/routes.ts'
import type { NetworkConfig } from '../config/network-config.ts'
import type { ExternalInterface } from './external-interface.ts'

export interface InterfaceOptions {
  /** Names or addresses, tried in order: `--iface`. */
  readonly names: readonly string[]
  /** Expressions for addresses or names, tried after `names`: `--iface-regex`. */
  readonly patterns: readonly string[]
  /** An address to which the interface leads: `--iface-can-reach`. */
  readonly canReach: string | undefined
  readonly publicIP: string | undefined
  readonly publicIPv6: string | undefined
}

/** The parts of a machine's network that are read. */
export interface InterfaceHost {
  readonly links: Pick<Links, 'list'>
  readonly addresses: Pick<Addresses, 'list'>
  readonly routes: Pick<Routes, 'list' | 'lookUp'>
}

type Families = Pick<NetworkConfig, 'enableIPv4' | 'enableIPv6'>
type Family = 4 | 6

/** An interface, and the addresses of it that were chosen with it. */
interface Choice {
  readonly link: Link
  readonly addresses: Readonly<Partial<Record<Family, string>>>
}

/**
 * Returns the interface.
 * @throws an Error that says why each candidate does not fit.
 */
export function findInterface(host: InterfaceHost, options: InterfaceOptions, families: Families): ExternalInterface {
  return new Finder(host, options, families).find()
}

class Finder {
  readonly #host: InterfaceHost
  readonly #options: InterfaceOptions
  readonly #families: readonly Family[]
  readonly #links: readonly Link[]
  /** Global addresses before those of the link, without prefixes. */
  readonly #addresses: readonly { readonly link: number; readonly address: string }[]

  constructor(host: InterfaceHost, options: InterfaceOptions, { enableIPv4, enableIPv6 }: Families) {
    this.#host = host
    this.#options = options
    this.#families = [...(enableIPv4 ? ([4] as const) : []), ...(enableIPv6 ? ([6] as const) : [])]
    this.#links = host.links.list()
    const all = host.addresses.list().map(({ link, address }) => ({ link, address: address.split('/')[0]! }))
    this.#addresses = [
      ...all.filter(({ address }) => !isLinkLocal(address)),
      ...all.filter(({ address }) => isLinkLocal(address)),
    ]
  }

  find(): ExternalInterface {
    const { publicIP, publicIPv6 } = this.#options
    for (const [flag, address, family] of [
      ['--public-ip', publicIP, 4],
      ['--public-ipv6', publicIPv6, 6],
    ] as const)
      if (address && isIP(address) !== family) throw new Error(`${flag} ${address} is not an IPv${family} address`)
    return this.#described(this.#choose())
  }

  #choose(): Choice {
    const { names, patterns, canReach, publicIP, publicIPv6 } = this.#options
    if (names.length + patterns.length === 0 && !canReach) {
      const own = publicIP || publicIPv6
      return own && this.#linkOf(own) ? this.#byName(own) : this.#byDefaultRoute()
    }
    const reasons: string[] = []
    const candidates = [
      ...names.map((name) => () => this.#byName(name)),
      ...patterns.map((pattern) => () => this.#byPattern(pattern)),
      ...(canReach ? [() => this.#byRoute(canReach)] : []),
    ]
    for (const candidate of candidates)
      try {
        return candidate()
      } catch (error) {
        reasons.push(messageOf(error))
      }
    throw new Error(
      'Failed to find interface to use that matches the interfaces and/or regexes provided: ' +
        `${reasons.join('; ')}. This machine has ${this.#inventory()}`,
    )
  }

  #byName(name: string): Choice {
    const family = isIP(name)
    if (family !== 4 && family !== 6) {
      const link = this.#links.find((one) => one.name === name)
      if (link) return { link, addresses: {} }
      throw new Error(`error looking up interface ${name}: there is no such interface`)
    }
    const link = this.#linkOf(name)
    if (link) return { link, addresses: { [family]: name } }
    throw new Error(`error looking up interface ${name}: no interface has the address`)
  }

  /** An address of each family that matches comes before a name that matches. */
  #byPattern(pattern: string): Choice {
    const expression = expressionOf(pattern)
    for (const link of this.#links) {
      const found = this.#families.map((family) =>
        this.#addressesOf(link, family).find((address) => expression.test(address)),
      )
      if (found.every((address) => address !== undefined))
        return { link, addresses: Object.fromEntries(this.#families.map((family, i) => [family, found[i]])) }
    }
    const link = this.#links.find(({ name }) => expression.test(name))
    if (link) return { link, addresses: {} }
    throw new Error(`could not match pattern ${pattern} to any of the available network interfaces`)
  }

  #byRoute(address: string): Choice {
    const family = isIP(address)
    if (family !== 4 && family !== 6) throw new Error(`--iface-can-reach ${address} is not an IP address`)
    const { link: index, source } = this.#host.routes.lookUp(address)
    const link = this.#links.find((one) => one.index === index)
    if (!link) throw new Error(`failed to get ifcanreach based interface: no interface leads to ${address}`)
    return { link, addresses: source === undefined ? {} : { [family]: source } }
  }

  #byDefaultRoute(): Choice {
    const routes = this.#host.routes.list()
    const [link, ...others] = this.#families.map((family) => {
      const everything = family === 4 ? '0.0.0.0/0' : '::/0'
      const index = routes.find(({ destination }) => destination === everything)?.link
      const found = this.#links.find((one) => one.index === index)
      if (found) return found
      throw new Error(
        `failed to get default ${family === 6 ? 'v6 ' : ''}interface: this machine has no default route of ` +
          `IPv${family}. Name the interface to other nodes with --iface. This machine has ${this.#inventory()}`,
      )
    })
    const different = others.find((other) => other.index !== link?.index)
    if (!link || different)
      throw new Error(
        `v6 default route interface ${different?.name} must be the same with v4 default route interface ` +
          `${link?.name}: name one with --iface`,
      )
    return { link, addresses: {} }
  }

  #described({ link, addresses }: Choice): ExternalInterface {
    const { publicIP, publicIPv6 } = this.#options
    const addressOf = (family: Family): string | undefined => {
      if (!this.#families.includes(family)) return undefined
      const address = addresses[family] ?? this.#addressesOf(link, family)[0]
      if (address) return address
      throw new Error(`failed to find IPv${family} address for interface ${link.name}`)
    }
    const [address, ipv6Address] = [addressOf(4), addressOf(6)]
    if (link.mtu === 0) throw new Error(`failed to determine MTU for ${link.name} interface`)
    return {
      name: link.name,
      index: link.index,
      mtu: link.mtu,
      address,
      ipv6Address,
      publicIP: address && (publicIP || address),
      publicIPv6: ipv6Address && (publicIPv6 || ipv6Address),
    }
  }

  #addressesOf({ index }: Link, family: Family): string[] {
    return this.#addresses.flatMap(({ link, address }) =>
      link === index && isIP(address) === family && (family === 4 || !isLinkLocal(address)) ? [address] : [],
    )
  }

  #linkOf(address: string): Link | undefined {
    const index = this.#addresses.find((one) => one.address === address)?.link
    return this.#links.find((one) => one.index === index)
  }

  #inventory(): string {
    const described = this.#links.map((link) => {
      const addresses = this.#families.flatMap((family) => this.#addressesOf(link, family))
      return `${link.name} [${addresses.join(' ')}]`
    })
    return described.join(', ')
  }
}

const isLinkLocal = (address: string): boolean =>
  address.includes(':') ? rangeHas('fe80::/10', address) : rangeHas('169.254.0.0/16', address)

function expressionOf(pattern: string): RegExp {
  try {
    return new RegExp(pattern)
  } catch (error) {
    throw new Error(`could not compile the IP address regex '${pattern}': ${messageOf(error)}`)
  }
}
