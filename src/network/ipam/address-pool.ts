/**
 * Gives addresses to pods, and keeps them in files as the CNI plug-in host-local does: a file for each address with its
 * owner, `last_reserved_ip.N`, and `lock`. Both can work on one directory.
 */
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SystemCallError } from '../../lib/linux/c-library.ts'
import type { SystemCalls } from '../../lib/linux/system-calls.ts'
import { type AddressRange, addressesAfter, addressValue, isInRange, rangeText } from './address-range.ts'

/** An interface of a container or sandbox. */
export interface AddressOwner {
  readonly id: string
  readonly interfaceName: string
}

export interface GivenAddress {
  readonly address: string
  readonly range: AddressRange
}

export interface AddressPoolOptions {
  readonly calls: SystemCalls
  /** `/var/lib/cni/networks/NAME`. */
  readonly directory: string
  /** A pod gets one address of each set; the ranges of a set are tried in order. */
  readonly rangeSets: readonly (readonly AddressRange[])[]
}

/** Time in ms after which a process that holds the lock is reported. */
const lockTimeoutMs = 10_000
const retryMs = 5

export class AddressPool {
  readonly #options: AddressPoolOptions

  constructor(options: AddressPoolOptions) {
    this.#options = options
  }

  /**
   * Returns the addresses of an owner: those that it has, else new ones. `requested` has addresses that it wants.
   * @throws if a range is exhausted, or a requested address is taken or in no range; then nothing is kept.
   */
  async allocate(owner: AddressOwner, requested: readonly string[] = []): Promise<GivenAddress[]> {
    return this.#locked(() => {
      const known = this.#addressesOf(owner)
      const given: GivenAddress[] = []
      try {
        for (const [index, set] of this.#options.rangeSets.entries())
          given.push(find(set, known) ?? this.#reserve(index, set, owner, requested))
        checkRequested(requested, given)
        return given
      } catch (error) {
        for (const { address } of given) if (!known.includes(address)) this.#forget(address)
        throw error
      }
    })
  }

  /**
   * Gives an owner others in place of some of its addresses; returns all that it has then. The former ones are free,
   * and are given again after all others.
   * @throws if a range is exhausted; then the owner has what it had.
   */
  async replace(owner: AddressOwner, former: readonly string[]): Promise<GivenAddress[]> {
    return this.#locked(() => {
      const known = this.#addressesOf(owner)
      const retained = known.filter((address) => !former.includes(address))
      const given = this.#options.rangeSets.map(
        (set, index) => find(set, retained) ?? this.#reserve(index, set, owner, []),
      )
      for (const address of former) if (known.includes(address)) this.#forget(address)
      return given
    })
  }

  /** Frees the addresses of an owner. */
  async release(owner: AddressOwner): Promise<void> {
    await this.#locked(() => {
      for (const address of this.#addressesOf(owner)) this.#forget(address)
    })
  }

  /** Frees the addresses of all owners that `isLive` rejects; returns those addresses. */
  async releaseOthers(isLive: (owner: AddressOwner) => boolean): Promise<readonly string[]> {
    return this.#locked(() => {
      const freed = this.#entries().filter(({ owner }) => !isLive(owner))
      for (const { address } of freed) this.#forget(address)
      return freed.map(({ address }) => address)
    })
  }

  /** The addresses that an owner has. */
  async addressesOf(owner: AddressOwner): Promise<readonly string[]> {
    return this.#locked(() => this.#addressesOf(owner))
  }

  #reserve(
    index: number,
    set: readonly AddressRange[],
    owner: AddressOwner,
    requested: readonly string[],
  ): GivenAddress {
    const taken = new Set(this.#entries().map(({ address }) => address))
    const wanted = requested.map((address) => find(set, [address])).find((found) => found !== undefined)
    if (wanted) {
      if (taken.has(wanted.address)) throw new Error(`the requested address ${wanted.address} is in use`)
      return this.#keep(index, wanted, owner)
    }
    const previous = this.#lastReserved(index)
    for (const range of set)
      for (const address of addressesAfter(range, previous))
        if (!taken.has(address)) return this.#keep(index, { address, range }, owner)
    const ranges = set.map(rangeText).join(',')
    throw new Error(
      `failed to allocate for range ${index}: no IP addresses available in range set: ${ranges}; ` +
        'delete pods, or give the node a larger range',
    )
  }

  #keep(index: number, given: GivenAddress, { id, interfaceName }: AddressOwner): GivenAddress {
    writeFileSync(this.#file(given.address), `${id}\r\n${interfaceName}`, { flag: 'wx', mode: 0o644 })
    writeFileSync(join(this.#options.directory, `last_reserved_ip.${index}`), given.address)
    return given
  }

  #lastReserved(index: number): string | undefined {
    try {
      return readFileSync(join(this.#options.directory, `last_reserved_ip.${index}`), 'utf8').trim()
    } catch {
      return undefined
    }
  }

  #addressesOf({ id, interfaceName }: AddressOwner): string[] {
    return this.#entries()
      .filter(({ owner }) => owner.id === id && owner.interfaceName === interfaceName)
      .map(({ address }) => address)
  }

  #entries(): { readonly address: string; readonly owner: AddressOwner }[] {
    return readdirSync(this.#options.directory)
      .filter((address) => addressValue(address, 4) !== undefined || addressValue(address, 6) !== undefined)
      .map((address) => {
        const [id = '', interfaceName = ''] = readFileSync(this.#file(address), 'utf8').trim().split(/\r?\n/)
        return { address, owner: { id, interfaceName } }
      })
  }

  #forget(address: string): void {
    rmSync(this.#file(address), { force: true })
  }

  readonly #file = (address: string): string => join(this.#options.directory, address)

  /** Other processes may use the directory. */
  async #locked<Result>(use: () => Result): Promise<Result> {
    const { directory, calls } = this.#options
    mkdirSync(directory, { recursive: true, mode: 0o755 })
    const fd = openSync(join(directory, 'lock'), 'a', 0o600)
    try {
      await lock(calls, fd, directory)
      return use()
    } finally {
      closeSync(fd)
    }
  }
}

async function lock(calls: SystemCalls, fd: number, directory: string): Promise<void> {
  for (const deadline = performance.now() + lockTimeoutMs; ; ) {
    try {
      calls.tryLock(fd)
      return
    } catch (error) {
      if (!(error instanceof SystemCallError) || error.code !== 'EAGAIN') throw error
      if (performance.now() > deadline)
        throw new Error(
          `another process has locked ${directory} for ${lockTimeoutMs / 1000} s; see fuser ${directory}/lock`,
        )
      await sleep(retryMs)
    }
  }
}

function find(set: readonly AddressRange[], addresses: readonly string[]): GivenAddress | undefined {
  for (const range of set) for (const address of addresses) if (isInRange(range, address)) return { address, range }
  return undefined
}

function checkRequested(requested: readonly string[], given: readonly GivenAddress[]): void {
  const missing = requested.find((address) => !given.some((one) => one.address === address))
  if (missing) throw new Error(`the requested address ${missing} is in no range of the network`)
}
