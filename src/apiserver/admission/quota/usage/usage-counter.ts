/**
 * Counts the usage of a namespace: for new or changed quotas, and after deletes. Watches only kinds that some quota
 * counts, and parses only objects in namespaces with a quota.
 */
import type { ResourceList } from '../../../../api/core/quota/resource-list.ts'
import { onlyNamed, sum } from '../../../../api/core/quota/resource-lists.ts'
import type { KubeObject } from '../../../../machinery/object.ts'
import { qualifiedName } from '../../../../machinery/status-error.ts'
import { Informer } from '../../../registry/informer.ts'
import type { ServedResource } from '../../../registry/served-resource.ts'
import type { StoredObject } from '../../../registry/stored-object.ts'
import type { PluginSources } from '../../plugin.ts'
import { coversObject, type Quota } from '../quota.ts'
import type { Evaluator, FindEvaluator } from './evaluators.ts'

/** A kind that quotas count. */
interface CountedResource {
  readonly resource: ServedResource
  readonly evaluator: Evaluator
  readonly objects: Informer<Countable>
  readonly ready: Promise<void>
}

export class UsageCounter {
  readonly #sources: PluginSources
  readonly #evaluatorOf: FindEvaluator
  readonly #changed: (object: StoredObject, exists: boolean) => void
  readonly #counted = new Map<ServedResource, CountedResource>()

  /** `changed` is called on every change of an object of a counted kind. */
  constructor(
    sources: PluginSources,
    evaluatorOf: FindEvaluator,
    changed: (object: StoredObject, exists: boolean) => void,
  ) {
    this.#sources = sources
    this.#evaluatorOf = evaluatorOf
    this.#changed = changed
  }

  stop(): void {
    for (const { objects } of this.#counted.values()) objects.stop()
  }

  /** Watches all kinds that the quotas count. Rejects if the store fails. */
  async watch(quotas: readonly Quota[]): Promise<void> {
    const names = quotas.flatMap(({ specHard }) => Object.keys(specHard))
    const served = new Set([...this.#sources.apis.all()].map(({ storage }) => storage))
    for (const resource of served) {
      const evaluator = this.#counted.has(resource) ? undefined : this.#evaluatorOf(resource)
      if (evaluator && evaluator.matching(names).length > 0) this.#begin(resource, evaluator)
    }
    for (const { resource, objects } of [...this.#counted.values()]) {
      // The CustomResourceDefinition was changed or deleted.
      if (served.has(resource)) continue
      objects.stop()
      this.#counted.delete(resource)
    }
    await Promise.all([...this.#counted.values()].map(({ ready }) => ready))
  }

  #begin(resource: ServedResource, evaluator: Evaluator): void {
    const { registry, log } = this.#sources
    const objects = new Informer<Countable>({
      registry,
      resource,
      read: (object) => new Countable(object),
      changed: (value, _old, object) => this.#changed(object, value !== undefined),
      log,
    })
    const ready = objects.start()
    this.#counted.set(resource, { resource, evaluator, objects, ready })
    ready.catch((error) => {
      this.#counted.delete(resource)
      log(`${qualifiedName(resource.groupResource)} cannot be counted for quotas: ${error}`)
    })
  }

  /** Returns the usage of the limited resources of a quota, without resources that cannot be counted. */
  count(quota: Quota): ResourceList {
    const names = Object.keys(quota.specHard)
    let used: ResourceList = {}
    for (const { evaluator, objects } of this.#counted.values()) {
      const counted = evaluator.matching(names)
      if (counted.length === 0) continue
      for (const name of counted) used[name] ??= '0'
      for (const object of objects.in(quota.namespace))
        used = sum(used, onlyNamed(object.usage(evaluator, quota), counted))
    }
    return used
  }

  /** Returns an object; undefined if it is missing or its kind is not counted. */
  object<T extends KubeObject>(resource: ServedResource, namespace: string, name: string): T | undefined {
    return this.#counted.get(resource)?.objects.get(namespace, name)?.parse<T>()
  }

  /** Returns the objects of a namespace; none if their kind is not counted. */
  *objects<T extends KubeObject>(resource: ServedResource, namespace: string): Generator<T> {
    for (const object of this.#counted.get(resource)?.objects.in(namespace) ?? []) yield object.parse<T>()
  }

  /** Returns the revision of an object; 0 if it is missing or its kind is not counted. */
  revision({ storage }: ServedResource, namespace: string, name: string): number {
    return this.#counted.get(storage)?.objects.get(namespace, name)?.revision ?? 0
  }
}

const nothing: ResourceList = {}

/** An object that is parsed when it is counted for the first time. */
class Countable {
  readonly #object: StoredObject
  #usage: ResourceList | undefined
  /** By the scopes of a quota: true if the object is in all of them. */
  #covered: Map<string, boolean> | undefined

  constructor(object: StoredObject) {
    this.#object = object
  }

  get revision(): number {
    return this.#object.revision
  }

  parse<T extends KubeObject>(): T {
    return this.#object.parse<T>()
  }

  usage(evaluator: Evaluator, quota: Quota): ResourceList {
    if (quota.scopes.length > 0 && !this.#isCovered(evaluator, quota)) return nothing
    if (this.#usage) return this.#usage
    const object = this.#object.parse()
    const usage = evaluator.usage(object)
    if (!evaluator.changesOverTime?.(object)) this.#usage = usage
    return usage
  }

  #isCovered(evaluator: Evaluator, quota: Quota): boolean {
    const key = JSON.stringify(quota.scopes)
    let covered = this.#covered?.get(key)
    if (covered === undefined) {
      covered = coversObject(quota, evaluator, this.#object.parse())
      this.#covered ??= new Map()
      this.#covered.set(key, covered)
    }
    return covered
  }
}
