/**
 * Templates of the first objects of a cluster that are the same in each: namespaces, priority classes, roles, flow
 * schemas, APIServices. The first server of a process creates them by the write path, with admission and validation;
 * later ones with the same options copy the result, which takes a tenth of the time.
 */
import { createHash, randomUUID } from 'node:crypto'
import type { FeatureGates } from '../../../api/features/feature-gates.ts'
import { prefixRange, type Store } from '../../../storage/store.ts'
import type { AdmissionOptions } from '../../admission/index.ts'
import type { PolicyRule } from '../../authorization/rbac/index.ts'
import { type FlowControlOptions, isFlowControlled } from '../../flow-control/index.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { ComponentRights } from '../roles/component-rights.ts'
import { fromTemplate, type ObjectTemplate, templateOf } from './object-template.ts'

/** Options of the server that decide about the objects, and the other stores. */
export interface DecisiveOptions {
  readonly features?: FeatureGates
  readonly runtimeConfig?: readonly string[]
  readonly admission?: AdmissionOptions
  readonly componentRights?: readonly ComponentRights[] | undefined
  readonly joinedNodes?: readonly PolicyRule[] | undefined
  readonly flowControl?: FlowControlOptions
  readonly otherStores?: readonly unknown[]
}

const kinds: readonly string[] = [
  'v1/namespaces',
  'scheduling.k8s.io/v1/priorityclasses',
  'rbac.authorization.k8s.io/v1/clusterroles',
  'rbac.authorization.k8s.io/v1/clusterrolebindings',
  'rbac.authorization.k8s.io/v1/roles',
  'rbac.authorization.k8s.io/v1/rolebindings',
  'flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
  'flowcontrol.apiserver.k8s.io/v1/flowschemas',
  'apiregistration.k8s.io/v1/apiservices',
]
/** The revision of a store without transactions. */
const emptyRevision = 1

/** The content of a file. */
interface Saved {
  readonly options: string
  readonly entries: readonly (readonly [key: string, value: string])[]
}

/** Files of templates, for later processes of the same version. Their names are derived from the options. */
export interface TemplateFiles {
  /** Returns undefined if the file does not exist, or there is no place for files. */
  read(name: string): string | undefined
  write(name: string, text: string): void
}

export class FirstObjectTemplates {
  readonly #files: TemplateFiles
  /** In the order of the writes, by the options that decide about the objects. */
  readonly #templates = new Map<string, readonly ObjectTemplate[]>()
  readonly #unsaved = new Set<string>()

  constructor(files: TemplateFiles) {
    this.#files = files
  }

  /** Writes copies to an empty store. Returns false if it is not empty, or without templates for the options. */
  async write(store: Store, options: DecisiveOptions, now: string): Promise<boolean> {
    const templates = this.#known(decisive(options))
    if (!templates || (await store.currentRevision()) !== emptyRevision) return false
    await Promise.all(
      templates.map((template) =>
        store.commit({
          conditions: [],
          operations: [{ key: template.key, value: fromTemplate(template, randomUUID(), now) }],
        }),
      ),
    )
    return true
  }

  /**
   * Reads the templates from a store into which only this server has written so far: before it listens. Does nothing
   * if there are some for the options.
   */
  async read(store: Store, options: DecisiveOptions, find: (key: string) => ServedResource): Promise<void> {
    const key = decisive(options)
    if (key === undefined || this.#templates.has(key)) return
    const lists = await Promise.all(kinds.map((kind) => store.list(prefixRange(find(kind).prefix))))
    const entries = lists.flatMap((list) => list.entries).sort((a, b) => a.revision - b.revision)
    this.#templates.set(key, entries.map(templateOf))
    this.#unsaved.add(key)
  }

  /** Writes the files of templates that have none. Throws the errors of `TemplateFiles.write`. */
  save(): void {
    for (const key of this.#unsaved) {
      this.#unsaved.delete(key)
      const entries = this.#templates.get(key)!.map(({ key, bytes }) => [key, bytes.toString()])
      this.#files.write(fileName(key), JSON.stringify({ options: key, entries }))
    }
  }

  #known(key: string | undefined): readonly ObjectTemplate[] | undefined {
    if (key === undefined) return undefined
    const templates = this.#templates.get(key) ?? parsed(this.#files.read(fileName(key)), key)
    if (templates) this.#templates.set(key, templates)
    return templates
  }
}

const fileName = (key: string): string => `first-objects-${createHash('sha256').update(key).digest('hex').slice(0, 16)}`

/** Undefined for a file that was written for other options, or incompletely. */
function parsed(text: string | undefined, key: string): ObjectTemplate[] | undefined {
  if (text === undefined) return undefined
  try {
    const { options, entries } = JSON.parse(text) as Saved
    if (options !== key) return undefined
    return entries.map(([key, value]) => templateOf({ key, value: Buffer.from(value) }))
  } catch {
    return undefined
  }
}

/** The options that decide about the objects; undefined if they cannot be compared. */
function decisive(options: DecisiveOptions): string | undefined {
  const { features, runtimeConfig, admission = {}, componentRights, joinedNodes, flowControl, otherStores } = options
  // Objects of other stores survive the cluster, and configurations of plugins may contain more than data.
  if (otherStores?.length || Object.keys(admission.configuration ?? {}).length > 0) return undefined
  const { enabled, disabled } = admission
  const isControlled = isFlowControlled(flowControl)
  const added = [componentRights, joinedNodes]
  return JSON.stringify([features?.settings, runtimeConfig, enabled, disabled, added, isControlled])
}
