/** The body of a server-side apply: only the fields that one manager sets. */
import type { KubeObject, ObjectMeta } from '../../machinery/object.ts'

/** A deep partial of a value. Items of lists are complete: the server merges lists by key. */
type Part<T> = T extends readonly (infer Item)[]
  ? Part<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Part<T[Key]> }
    : T

/** Some fields of an object. The name is required; apiVersion and kind follow from the resource. */
export type ApplyConfiguration<T extends KubeObject> = Part<Omit<T, 'metadata' | 'apiVersion' | 'kind'>> & {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMeta & { readonly name: string }
}
