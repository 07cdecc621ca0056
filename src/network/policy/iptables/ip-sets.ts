/** The sets of policies in the kernel, changed by the program `ipset`. */
import type { RunProgram } from '../../iptables/iptables-programs.ts'
import type { PolicySet } from '../rules/policy-state.ts'
import type { KernelNames } from './kernel-names.ts'

/** In the syntax of `ipset`. */
type Contents = ReadonlyMap<string, ReadonlySet<string>>

const families = { 4: 'inet', 6: 'inet6' } as const
const maxElements = 1_048_576

export class IpSets {
  readonly #run: RunProgram
  readonly #family: 4 | 6
  readonly #names: KernelNames
  /** Undefined: unknown. */
  #present: Contents | undefined

  constructor(run: RunProgram, family: 4 | 6, names: KernelNames) {
    this.#run = run
    this.#names = names
    this.#family = family
  }

  /** True if this machine has the program, and the kernel has sets. */
  isUsable(): Promise<boolean> {
    return this.#run('ipset', ['list', '-name']).then(
      () => true,
      () => false,
    )
  }

  /** Reads the sets of the kernel before the next change, as other programs may have changed them. */
  forget(): void {
    this.#present = undefined
  }

  /** Fills the sets. Others remain until `destroyOthers`, as rules may refer to them. */
  async fill(sets: ReadonlyMap<string, PolicySet>): Promise<void> {
    const present = this.#present ?? (await this.#read())
    this.#present = undefined
    const wanted = new Map<string, ReadonlySet<string>>(present)
    const lines: string[] = []
    for (const [set, { kind, elements }] of sets) {
      const name = this.#names.set(set)
      const texts = new Set([...elements].map(elementText))
      const before = present.get(name)
      const type = kind === 'addresses' ? 'hash:ip' : 'hash:ip,port'
      if (!before) lines.push(`create ${name} ${type} family ${families[this.#family]} maxelem ${maxElements}`)
      // An address may have two forms, of which one is removed.
      for (const element of before ?? []) if (!texts.has(element)) lines.push(`del ${name} ${element}`)
      for (const element of texts) if (!before?.has(element)) lines.push(`add ${name} ${element}`)
      wanted.set(name, texts)
    }
    if (lines.length > 0) await this.#run('ipset', ['restore', '-exist'], `${lines.join('\n')}\n`)
    this.#present = wanted
  }

  /** Destroys the sets of policies that are not among these. The kernel may still use some: they remain until later. */
  async destroyOthers(sets: ReadonlyMap<string, PolicySet>): Promise<void> {
    const used = new Set([...sets.keys()].map(this.#names.set))
    const present = new Map(this.#present ?? (await this.#read()))
    for (const name of present.keys()) {
      if (used.has(name)) continue
      const isDestroyed = await this.#run('ipset', ['destroy', name]).then(
        () => true,
        () => false,
      )
      if (isDestroyed) present.delete(name)
    }
    this.#present = present
  }

  async #read(): Promise<Contents> {
    const found = new Map<string, Set<string>>()
    for (const line of (await this.#run('ipset', ['save'])).split('\n')) {
      const [command, name = '', element = ''] = line.split(' ')
      if (!this.#names.isSet(name)) continue
      if (command === 'create') found.set(name, new Set())
      else if (command === 'add') found.get(name)?.add(element)
    }
    return found
  }
}

/** `10.0.0.1,tcp:80` of `10.0.0.1 . tcp . 80`. */
function elementText(element: string): string {
  const [address = '', protocol, port] = element.split(' . ')
  return protocol === undefined ? address : `${address},${protocol}:${port}`
}
