/**
 * Shared parameters of a v2 document: defined once, and referred to by many operations.
 */
import { createHash } from 'node:crypto'
import { type Flavour, metaPackage, referenceTo } from '../schemas/json-schema.ts'
import { type ParameterName, parameter } from './parameters.ts'

type Shape = Readonly<Record<string, unknown>>

const flavour: Flavour = 'v2'

/** As upstream: `name` differs by kind, and kubectl before 1.27 requires the other two at the operation itself. */
const unshared: ReadonlySet<ParameterName> = new Set(['name', 'dryRun', 'fieldValidation'])

/** Names end in a hash of the parameter, because several share a name. */
const sharedName = (shape: Shape): string =>
  `${shape.name}-${createHash('sha256').update(JSON.stringify(shape)).digest('base64url').slice(0, 8)}`

const references = new Map<Shape, Shape>()
const bodies = new Map<string, Shape>()

export class SharedParameters {
  readonly #shapes = new Map<string, Shape>()

  /** Returns the parameter, or a reference to it. */
  parameter(name: ParameterName): Shape {
    const shape = parameter(name, flavour)
    return unshared.has(name) ? shape : this.#refer(shape)
  }

  /** Returns the body parameter; bodies of a single kind are not shared. */
  body(definition: string, required: boolean): Shape {
    const key = `${definition} ${required}`
    let shape = bodies.get(key)
    if (!shape)
      bodies.set(
        key,
        (shape = { name: 'body', in: 'body', ...(required && { required }), schema: referenceTo(definition, flavour) }),
      )
    return definition.startsWith(metaPackage) ? this.#refer(shape) : shape
  }

  #refer(shape: Shape): Shape {
    let reference = references.get(shape)
    if (!reference) references.set(shape, (reference = { $ref: `#/parameters/${sharedName(shape)}` }))
    this.#shapes.set((reference.$ref as string).slice('#/parameters/'.length), shape)
    return reference
  }

  /** The referenced parameters, sorted by name. */
  get all(): [name: string, shape: Shape][] {
    return [...this.#shapes].sort(([a], [b]) => (a < b ? -1 : 1))
  }
}
