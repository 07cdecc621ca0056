/** Renders templates with an object as dot. */
import { own } from '../../../lib/own.ts'
import { type Functions, format, isTrue, yamlBelow } from './functions.ts'
import type { Node, Operand, Pipe, Template } from './parse.ts'

/** Limits for the output in bytes, the number of steps, and the depth of nested templates. */
const maxBytes = 1024 * 1024
const maxSteps = 200_000
const maxDepth = 50

type Variables = Map<string, unknown>

class Interruption extends Error {
  readonly what: 'break' | 'continue'

  constructor(what: 'break' | 'continue') {
    super(`{{ ${what} }} stands in no range`)
    this.what = what
  }
}

/** Throws an Error for an unknown function, and for a template that exceeds the limits. */
export function render({ body, defined }: Template, dot: unknown, functions: Functions): string {
  return new Renderer(defined, functions).run(body, dot)
}

class Renderer {
  readonly #defined: Template['defined']
  readonly #functions: Functions
  #output = ''
  #steps = 0
  #depth = 0

  constructor(defined: Template['defined'], functions: Functions) {
    this.#defined = defined
    this.#functions = functions
  }

  run(body: readonly Node[], dot: unknown): string {
    this.#body(body, dot, new Map([['$', dot]]))
    return this.#output
  }

  #write(text: string): void {
    this.#output += text
    if (this.#output.length > maxBytes) throw new Error('the template writes more than 1 MB')
  }

  #body(nodes: readonly Node[], dot: unknown, variables: Variables): void {
    for (const node of nodes) {
      if (++this.#steps > maxSteps) throw new Error('the template does not end')
      this.#node(node, dot, variables)
    }
  }

  #node(node: Node, dot: unknown, variables: Variables): void {
    switch (node.kind) {
      case 'text':
        this.#write(node.text)
        return
      case 'output': {
        const value = this.#pipe(node.pipe, dot, variables)
        if (node.pipe.variables.length === 0) this.#write(format(value))
        return
      }
      case 'if': {
        const scope = new Scope(variables)
        this.#body(isTrue(this.#pipe(node.pipe, dot, scope)) ? node.body : node.otherwise, dot, scope)
        return
      }
      case 'with': {
        const scope = new Scope(variables)
        const value = this.#pipe(node.pipe, dot, scope)
        if (isTrue(value)) this.#body(node.body, value, scope)
        else this.#body(node.otherwise, dot, scope)
        return
      }
      case 'range':
        this.#range(node, dot, variables)
        return
      case 'template': {
        const body = this.#defined.get(node.name)
        if (!body) throw new Error(`there is no template ${JSON.stringify(node.name)}`)
        if (++this.#depth > maxDepth) throw new Error('templates use each other without end')
        const value = node.pipe && this.#pipe(node.pipe, dot, variables)
        this.#body(body, value, new Map([['$', value]]))
        this.#depth--
        return
      }
      case 'break':
      case 'continue':
        throw new Interruption(node.kind)
      default:
        node satisfies never
    }
  }

  #range({ pipe, body, otherwise }: Extract<Node, { kind: 'range' }>, dot: unknown, variables: Variables): void {
    const value = this.#pipe({ ...pipe, variables: [] }, dot, variables)
    const entries: readonly (readonly [unknown, unknown])[] = Array.isArray(value)
      ? [...value.entries()]
      : typeof value === 'number'
        ? Array.from({ length: Math.min(value, maxSteps) }, (_, i) => [i, i] as const)
        : typeof value === 'object' && value !== null
          ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
          : []
    if (entries.length === 0) this.#body(otherwise, dot, new Scope(variables))
    for (const [key, item] of entries) {
      const scope = new Scope(variables)
      const [first, second] = pipe.variables
      if (second) scope.declare(first!, key).declare(second, item)
      else if (first) scope.declare(first, item)
      try {
        this.#body(body, item, scope)
      } catch (error) {
        if (!(error instanceof Interruption)) throw error
        if (error.what === 'break') return
      }
    }
  }

  #pipe({ variables: names, declares, commands }: Pipe, dot: unknown, variables: Variables): unknown {
    let value: unknown
    for (const [i, command] of commands.entries()) value = this.#command(command, dot, variables, i > 0 ? [value] : [])
    const [name] = names
    if (name && declares && variables instanceof Scope) variables.declare(name, value)
    else if (name) variables.set(name, value)
    return value
  }

  #command(
    [first, ...rest]: readonly Operand[],
    dot: unknown,
    variables: Variables,
    piped: readonly unknown[],
  ): unknown {
    if (first!.kind !== 'function') return this.#operand(first!, dot, variables)
    const { name } = first!
    if (name === 'and' || name === 'or') {
      let value: unknown
      for (const operand of rest) {
        value = this.#operand(operand, dot, variables)
        if (isTrue(value) === (name === 'or')) return value
      }
      return piped.length > 0 ? piped[0] : value
    }
    const args = [...rest.map((operand) => this.#operand(operand, dot, variables)), ...piped]
    return name === 'YAML' ? yamlBelow(args[0], args[1], this.#indent()) : this.#call(name, args)
  }

  /** The indentation of the current output line; empty if it contains anything else. */
  #indent(): string {
    const line = this.#output.slice(this.#output.lastIndexOf('\n') + 1)
    return line.trim() === '' ? line : ''
  }

  #call(name: string, args: readonly unknown[]): unknown {
    const called = own(this.#functions, name)
    if (!called) throw new Error(`function ${JSON.stringify(name)} not defined`)
    return called(...args)
  }

  #operand(operand: Operand, dot: unknown, variables: Variables): unknown {
    if (operand.kind === 'value') return operand.value
    if (operand.kind === 'function') return this.#call(operand.name, [])
    const { from, names } = operand
    if (typeof from === 'string' && from !== 'dot' && !variables.has(from))
      throw new Error(`undefined variable ${JSON.stringify(from)}`)
    const start =
      from === 'dot' ? dot : typeof from === 'string' ? variables.get(from) : this.#pipe(from, dot, variables)
    return names.reduce<unknown>(member, start)
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}

/** Variables of a block: declared ones end with the block, outer ones are assigned. */
class Scope extends Map<string, unknown> {
  readonly #outer: Variables

  constructor(outer: Variables) {
    super()
    this.#outer = outer
  }

  declare(name: string, value: unknown): this {
    super.set(name, value)
    return this
  }

  override has(name: string): boolean {
    return super.has(name) || this.#outer.has(name)
  }

  override get(name: string): unknown {
    return super.has(name) ? super.get(name) : this.#outer.get(name)
  }

  override set(name: string, value: unknown): this {
    if (super.has(name) || !this.#outer.has(name)) super.set(name, value)
    else this.#outer.set(name, value)
    return this
  }
}
