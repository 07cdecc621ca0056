/** The interface `kube-ipvs0`, which has the addresses of all Services: so packets to them reach IPVS. */
import { isIPv4 } from 'node:net'
import { ignoreErrors, SystemCallError } from '../../../../lib/linux/c-library.ts'
import type { HostNetwork } from '../../../netlink/host-network.ts'
import type { Link } from '../../../netlink/links.ts'
import type { IpFamily } from '../../picture/service-port.ts'

export const interfaceName = 'kube-ipvs0'

/** Calls a function with the network of this machine. */
export type WithNetwork = <Result>(use: (network: HostNetwork) => Result) => Result

/** The addresses of one family on the interface. */
export class ServiceInterface {
  readonly #withNetwork: WithNetwork
  readonly #family: IpFamily

  constructor(withNetwork: WithNetwork, family: IpFamily) {
    this.#withNetwork = withNetwork
    this.#family = family
  }

  get exists(): boolean {
    return this.#withNetwork(({ links }) => links.find(interfaceName) !== undefined)
  }

  /** Addresses of all other interfaces, without loopback and link-local ones. */
  otherAddresses(): Set<string> {
    return this.#withNetwork(({ links, addresses }) => {
      const own = links.find(interfaceName)?.index
      const others = addresses.list().filter(({ link }) => link !== own)
      return new Set(this.#ofFamily(others).filter((ip) => !/^(127\.|::1$|fe80:)/.test(ip)))
    })
  }

  addresses(): Set<string> {
    return this.#withNetwork((network) => new Set(this.#addressesOf(network, network.links.find(interfaceName))))
  }

  /** Creates the interface if it is missing, and gives it exactly these addresses. */
  replaceAll(wanted: ReadonlySet<string>): void {
    this.#withNetwork((network) => {
      const link = ensureInterface(network)
      const found = new Set(this.#addressesOf(network, link))
      for (const ip of wanted) if (!found.has(ip)) this.#add(network, link, ip)
      for (const ip of found) if (!wanted.has(ip)) this.#remove(network, link, ip)
    })
  }

  change(added: readonly string[], removed: readonly string[]): void {
    if (added.length + removed.length === 0) return
    this.#withNetwork((network) => {
      const link = ensureInterface(network)
      for (const ip of added) this.#add(network, link, ip)
      for (const ip of removed) this.#remove(network, link, ip)
    })
  }

  /** Removes the addresses of the family, and the interface if it has none of the other family. */
  remove(): void {
    this.#withNetwork((network) => {
      const link = network.links.find(interfaceName)
      if (!link) return
      for (const ip of this.#addressesOf(network, link)) this.#remove(network, link, ip)
      const isUsed = network.addresses.list().some(({ link: index, address }) => {
        return index === link.index && !address.startsWith('fe80:')
      })
      if (!isUsed) network.links.remove(link)
    })
  }

  #addressesOf({ addresses }: HostNetwork, link: Link | undefined): string[] {
    return link ? this.#ofFamily(addresses.list().filter(({ link: index }) => index === link.index)) : []
  }

  #ofFamily(found: readonly { readonly address: string }[]): string[] {
    const all = found.map(({ address }) => address.split('/')[0] ?? '')
    return all.filter((ip) => isIPv4(ip) === (this.#family === 4) && !ip.startsWith('fe80:'))
  }

  #add({ addresses }: HostNetwork, link: Link, ip: string): void {
    try {
      addresses.add(link, this.#asRange(ip))
    } catch (error) {
      ignoreErrors(error, 'EEXIST')
    }
  }

  #remove({ addresses }: HostNetwork, link: Link, ip: string): void {
    try {
      addresses.remove(link, this.#asRange(ip))
    } catch (error) {
      ignoreErrors(error, 'EADDRNOTAVAIL')
    }
  }

  #asRange(ip: string): string {
    return `${ip}/${this.#family === 4 ? 32 : 128}`
  }
}

function ensureInterface({ links }: HostNetwork): Link {
  const found = links.find(interfaceName)
  if (found) return found
  try {
    links.addDummy(interfaceName)
  } catch (error) {
    if (!(error instanceof SystemCallError) || error.code !== 'EOPNOTSUPP') throw error
    throw new Error('the mode ipvs needs the module dummy of the kernel: load it by `modprobe dummy`', { cause: error })
  }
  return links.find(interfaceName)!
}
