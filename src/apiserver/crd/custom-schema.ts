/** The schema of one version of a definition, parsed from the stored bytes on first use. */
import type { Definition } from '../../api/apiextensions/custom-resource-definition.ts'
import { schemaType } from '../../api/schema/index.ts'
import { SchemaRules } from '../../cel/schema-rules/index.ts'
import type { KubeObject, Unstructured } from '../../machinery/object.ts'
import type { StructType } from '../../machinery/schema.ts'
import {
  dropNulls,
  embeddedDecodeFault,
  fillDefaults,
  prune,
  type StructuralSchema,
  schemaFaults,
  structType,
  structuralSchema,
  type ValueOptions,
} from '../../machinery/structural-schema/index.ts'
import type { FieldError } from '../../machinery/validation/field-error.ts'
import type { StoredObject } from '../registry/stored-object.ts'

type JsonSchema = Readonly<Record<string, unknown>>

/** More warnings would not fit into the response headers. */
const maxWarnings = 50

export class CustomSchema {
  readonly #definition: StoredObject
  readonly #version: string
  #compiled: StructuralSchema | undefined
  #type: StructType | undefined
  #rules: SchemaRules | undefined
  readonly #ratcheted = new WeakMap<KubeObject, readonly string[]>()

  /** Holds only the stored definition until its first use. */
  constructor(definition: StoredObject, version: string) {
    this.#definition = definition
    this.#version = version
  }

  /** The schema as written in the definition. */
  source(): JsonSchema {
    const { spec } = this.#definition.parse<Definition>()
    return spec.versions.find(({ name }) => name === this.#version)?.schema?.openAPIV3Schema ?? { type: 'object' }
  }

  get #schema(): StructuralSchema {
    return (this.#compiled ??= structuralSchema(this.source()))
  }

  /** The schema as a type for server-side apply. */
  type(names: { readonly group: string; readonly version: string; readonly kind: string }): StructType {
    return (this.#type ??= structType(this.#schema, { ...names, metadata: schemaType('V1ObjectMeta') }))
  }

  /** Removes unknown fields. Returns their paths. */
  prune(object: Record<string, unknown>): readonly string[] {
    return prune(object, this.#schema)
  }

  /** Returns the fault of the first invalid embedded object. */
  embeddedFault(object: Record<string, unknown>): FieldError | undefined {
    return embeddedDecodeFault(object, this.#schema)
  }

  /** Removes nulls that are not nullable, and applies defaults. */
  applyDefaults(object: KubeObject): void {
    const fields = object as Unstructured
    dropNulls(fields, this.#schema)
    fillDefaults(fields, this.#schema)
  }

  /** Validates an object; `old` is set on update. */
  faults(object: KubeObject, old: KubeObject | undefined, options: ValueOptions): readonly FieldError[] {
    const ratcheted: string[] = []
    const ruleFaults = (): readonly FieldError[] => {
      this.#rules ??= new SchemaRules(this.#schema, true)
      return this.#rules.faults(object, old, (fault) => ratcheted.length < maxWarnings && ratcheted.push(fault))
    }
    const faults = schemaFaults(object as Unstructured, this.#schema, old as Unstructured | undefined, {
      ...options,
      ruleFaults,
    })
    if (ratcheted.length > 0) this.#ratcheted.set(object, ratcheted)
    return faults
  }

  /** Faults that the old object has too: they are warnings (ratcheting). Available after `faults`. */
  warnings(object: KubeObject): readonly string[] {
    return this.#ratcheted.get(object) ?? []
  }
}
