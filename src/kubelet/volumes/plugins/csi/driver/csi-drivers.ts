/** The CSI drivers that are registered on this node, by name. */
import { CsiDriverClient } from './csi-driver-client.ts'

interface RegisteredDriver {
  readonly endpoint: string
  /** Major, minor and patch of the highest supported version. */
  readonly version: readonly number[]
  readonly client: CsiDriverClient
}

/** A version of CSI that this kubelet speaks: any 1.x. */
const supported = /^v?(1)(?:\.(\d+))?(?:\.(\d+))?$/

export class CsiDrivers {
  readonly #drivers = new Map<string, RegisteredDriver>()

  get names(): readonly string[] {
    return [...this.#drivers.keys()]
  }

  /** Throws an Error with upstream's message if the driver is not registered. */
  client(name: string): CsiDriverClient {
    const driver = this.#drivers.get(name)
    if (!driver) throw new Error(`driver name ${name} not found in the list of registered CSI drivers`)
    return driver.client
  }

  /** Throws an Error with upstream's message if no version is supported, or another driver has the name. */
  add(name: string, endpoint: string, versions: readonly string[]): CsiDriverClient {
    const version = highestVersion(name, versions)
    const known = this.#drivers.get(name)
    if (known && known.endpoint !== endpoint && compare(known.version, version) >= 0)
      throw failed(name, `${alreadyRegistered}: "${known.version.join('.')}"`)
    known?.client.close()
    const client = new CsiDriverClient(endpoint)
    this.#drivers.set(name, { endpoint, version, client })
    return client
  }

  remove(name: string): void {
    this.#drivers.get(name)?.client.close()
    this.#drivers.delete(name)
  }

  close(): void {
    for (const name of this.names) this.remove(name)
  }
}

const alreadyRegistered = 'Another driver with the same name is already registered with a higher supported version'

const failed = (name: string, problem: string): Error =>
  new Error(`kubernetes.io/csi: RegisterPlugin for CSI driver "${name}" failed. ${problem}`)

function highestVersion(name: string, versions: readonly string[]): readonly number[] {
  if (versions.length === 0) throw failed(name, 'Plugin returned an empty list for supported versions')
  const known = versions.flatMap((version) => {
    const match = supported.exec(version)
    return match ? [match.slice(1).map((part = '0') => Number(part))] : []
  })
  const [highest] = known.toSorted(compare).reverse()
  if (highest) return highest
  const listed = versions.map((version) => JSON.stringify(version)).join(' ')
  throw failed(
    name,
    `None of the versions specified [${listed}] are supported. err=could not find a highest supported version in ` +
      `versions (${versions.join(' ')}) supported by driver`,
  )
}

function compare(one: readonly number[], other: readonly number[]): number {
  for (const [index, part] of one.entries()) if (part !== other[index]) return part - (other[index] ?? 0)
  return 0
}
