/** Selects the declarations that the entries of a package need, so that it publishes no others. */
import { dirname, relative } from 'node:path'
import type { Declaration, Module, Reference } from './module-graph.ts'

/** Files by name. */
export interface Modules {
  read(file: string): Module
  /** Returns the file of an import; undefined for a module that remains outside, such as `node:stream`. */
  resolve(from: string, source: string): string | undefined
  /** Returns the name of a file in the result. */
  place(file: string): string
}

/** A declaration and its place: the file, or a module that remains outside. */
interface Found {
  readonly file: string
  readonly name: string
  readonly isOutside?: true
}

/** Returns the texts of the declaration files that `entries` need, by place, with only the needed declarations. */
export function prune(modules: Modules, entries: readonly string[]): Map<string, string> {
  const pruner = new Pruner(modules)
  for (const entry of entries) pruner.addEntry(entry)
  return pruner.texts()
}

class Pruner {
  readonly #modules: Modules
  /** Needed names by file. */
  readonly #needed = new Map<string, Set<string>>()
  /** Lines that import or export names of other modules, by file. */
  readonly #links = new Map<string, Set<string>>()

  constructor(modules: Modules) {
    this.#modules = modules
  }

  addEntry(entry: string): void {
    for (const name of this.#exportedNames(entry)) {
      const found = this.#find(entry, name)
      if (!found) throw new Error(`${entry} exports ${name}, which is not found`)
      this.#need(found)
      if (found.file === entry) continue
      this.#link(entry, `export { ${alias(found.name, name)} } from '${this.#specifier(entry, found)}'`)
    }
  }

  texts(): Map<string, string> {
    const files = new Set([...this.#needed.keys(), ...this.#links.keys()])
    return new Map([...files].sort().map((file) => [this.#modules.place(file), this.#textOf(file)]))
  }

  #textOf(file: string): string {
    const needed = this.#needed.get(file) ?? new Set()
    const { declarations } = this.#modules.read(file)
    const found = [...declarations].filter(([name]) => needed.has(name))
    const texts = found.flatMap(([, all]) => all.map(({ text }) => text))
    const unexported = found.filter(([, all]) => !all.some(({ isExported }) => isExported)).map(([name]) => name)
    // A statement may declare several names.
    const lines = [...(this.#links.get(file) ?? []), ...new Set(texts), `export { ${unexported.join(', ')} }`]
    return `${lines.join('\n')}\n`
  }

  #exportedNames(file: string): string[] {
    const { exports, stars } = this.#modules.read(file)
    const others = stars.flatMap((source) => {
      const target = this.#modules.resolve(file, source)
      return target ? this.#exportedNames(target) : []
    })
    return [...new Set([...exports.keys(), ...others])]
  }

  /** Follows exports of exports to the declaration of a name. */
  #find(file: string, name: string): Found | undefined {
    const { exports, imports, declarations, stars } = this.#modules.read(file)
    const exported = exports.get(name)
    if (typeof exported === 'object') return this.#follow(file, exported)
    if (exported !== undefined) {
      const imported = imports.get(exported)
      return imported && !declarations.has(exported) ? this.#follow(file, imported) : { file, name: exported }
    }
    for (const source of stars) {
      const target = this.#modules.resolve(file, source)
      const found = target && this.#find(target, name)
      if (found) return found
    }
    return undefined
  }

  #follow(from: string, { source, name }: Reference): Found | undefined {
    const target = this.#modules.resolve(from, source)
    return target ? this.#find(target, name) : { file: source, name, isOutside: true }
  }

  #need({ file, name, isOutside }: Found): void {
    if (isOutside) return
    const needed = this.#needed.get(file) ?? new Set()
    if (needed.has(name)) return
    this.#needed.set(file, needed.add(name))
    const module = this.#modules.read(file)
    for (const declaration of module.declarations.get(name) ?? []) this.#needReferences(file, module, declaration)
  }

  #needReferences(file: string, { declarations, imports }: Module, { names, inline }: Declaration): void {
    for (const { source, name } of inline) {
      const found = this.#follow(file, { source, name })
      if (found) this.#need(found)
    }
    for (const name of names) {
      if (declarations.has(name)) this.#need({ file, name })
      const imported = imports.get(name)
      if (!imported || declarations.has(name)) continue
      const found = this.#follow(file, imported)
      if (!found) throw new Error(`${file} imports ${imported.name} from ${imported.source}, which is not found`)
      this.#need(found)
      this.#link(file, `import { ${alias(found.name, name)} } from '${this.#specifier(file, found)}'`)
    }
  }

  #specifier(from: string, { file, isOutside }: Found): string {
    if (isOutside) return file
    const { place } = this.#modules
    const path = relative(dirname(place(from)), place(file)).replace(/\.d\.ts$/, '.js')
    return path.startsWith('.') ? path : `./${path}`
  }

  #link(file: string, line: string): void {
    this.#links.set(file, (this.#links.get(file) ?? new Set()).add(line))
  }
}

const alias = (name: string, as: string): string => (name === as ? name : `${name} as ${as}`)
