/** The schema of one version of a definition, made of the stored bytes when it is first needed. */
import type { Definition } from '../../api/apiextensions/custom-resource-definition.ts'
import { schemaType } from '../../api/schema/index.ts'
import { dropNulls, fillDefaults, prune, type StructuralSchema, schemaFaults, structType, structuralSchema } from '../../machinery/structural-schema/index.ts'
import type { KubeObject, Unstructured } from '../../machinery/object.ts'
import type { StructType } from '../../machinery/schema.ts'
import type { FieldError } from '../../machinery/validation/field-error.ts'
import type { StoredObject } from '../registry/stored-object.ts'

type JsonSchema = Readonly<Record<string, unknown>>

export class CustomSchema {
  readonly #definition: StoredObject
  readonly #version: string
  #compiled: StructuralSchema | undefined
  #type: StructType | undefined

  /** Keeps nothing but the stored definition until it is used. */
  constructor(definition: StoredObject, version: string) {
    this.#definition = definition
    this.#version = version
  }

  /** As the definition says it. */
  source(): JsonSchema {
    const { spec } = this.#definition.parse<Definition>()
    return (spec.versions.find(({ name }) => name === this.#version)?.schema?.openAPIV3Schema ?? { type: 'object' }) as unknown as JsonSchema
  }

  get #schema(): StructuralSchema {
    return (this.#compiled ??= structuralSchema(this.source()))
  }

  /** As apply sees it. */
  type({ kind, groupVersion }: { readonly kind: string; readonly groupVersion: string }): StructType {
    return (this.#type ??= structType(this.#schema, { kind, groupVersion, metadata: schemaType('V1ObjectMeta') }))
  }

  /** Takes out what the schema does not know. Returns the paths of what went. */
  prune(object: Record<string, unknown>): readonly string[] {
    return prune(object, this.#schema)
  }

  /** Fills in what is missing, and takes out nulls that may not be. */
  complete(object: KubeObject): void {
    const fields = object as Unstructured
    fillDefaults(fields, this.#schema)
    dropNulls(fields, this.#schema)
  }

  /** What is wrong with an object; `old` is given on update. */
  faults(object: KubeObject, old?: KubeObject): readonly FieldError[] {
    return schemaFaults(object as Unstructured, this.#schema, old as Unstructured | undefined)
  }
}
