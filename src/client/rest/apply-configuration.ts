/** What server-side apply takes: the fields that one manager wants to have, and no others. */
import type { KubeObject, ObjectMeta } from '../../machinery/object.ts'

/** Any part of a value. Lists are given whole: the server merges them by their keys. */
type Part<T> = T extends readonly (infer Item)[]
  ? Part<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Part<T[Key]> }
    : T

/** Some fields of an object; which object it is has to be said, what kind it is follows from the resource. */
export type ApplyConfiguration<T extends KubeObject> = Part<Omit<T, 'metadata' | 'apiVersion' | 'kind'>> & {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMeta & { readonly name: string }
}
