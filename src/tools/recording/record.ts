/** Records the objects of a live cluster to a file, by reading only. */
import type { VersionInfo } from '@kubernetes/client-node'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { recordedResources } from './recorded-resources.ts'
import { type RecordedObject, recordingHeader, writeRecording } from './recording-file.ts'
import { withoutValues } from './secret-values.ts'

export interface RecordOptions {
  /** `replace` writes other values in their place. */
  readonly secrets: 'replace' | 'include' | 'omit'
  /** The namespaces whose objects are recorded, beside objects without namespace. Default: all. */
  readonly namespaces?: readonly string[] | undefined
  /** Called when a kind was read, with the numbers of kinds. */
  readonly progress?: (done: number, all: number) => void
  readonly now: Date
}

export interface RecordResult {
  readonly gitVersion: string
  readonly objects: number
  readonly kinds: number
  /** Secrets with other values. */
  readonly replaced: number
  /** The kinds that the file lacks, each with the reason. */
  readonly omitted: readonly string[]
}

/**
 * Records to a new file. Objects that change meanwhile are recorded as they are when their kind is read. Rejects with
 * an ExplainedError if the file cannot be written, and with the client's errors.
 */
export async function recordCluster(client: RestClient, file: string, options: RecordOptions): Promise<RecordResult> {
  const { secrets, namespaces, progress = () => {}, now } = options
  const [{ gitVersion }, { resources, omitted }] = await Promise.all([
    client.read<VersionInfo>('/version'),
    recordedResources(client),
  ])
  const missing = [...omitted]
  let kinds = 0
  let replaced = 0
  async function* objects(): AsyncGenerator<RecordedObject> {
    for (const [index, resource] of resources.entries()) {
      progress(index, resources.length)
      const { group, plural, namespaced } = resource
      const isSecret = group === '' && plural === 'secrets'
      if (isSecret && secrets === 'omit') {
        missing.push('secrets: as asked for')
        continue
      }
      let found = false
      try {
        for (const namespace of namespaced ? (namespaces ?? ['']) : [''])
          for await (const object of client.items<KubeObject>(resource, { namespace })) {
            if (isTheirNamespace(resource, object, namespaces)) continue
            found = true
            const isReplaced = isSecret && secrets === 'replace'
            if (isReplaced) replaced++
            yield { group, plural, object: isReplaced ? withoutValues(object) : object }
          }
      } catch (error) {
        if (!(error instanceof StatusError) || error.code !== 403) throw error
        missing.push(`${group ? `${plural}.${group}` : plural}: the user must not list them`)
      }
      if (found) kinds++
    }
  }
  const count = await writeRecording(file, recordingHeader(gitVersion, now), objects())
  return { gitVersion, objects: count, kinds, replaced, omitted: missing }
}

/** True for a Namespace that is not among those that are recorded. */
const isTheirNamespace = (
  { group, plural }: { readonly group: string; readonly plural: string },
  { metadata }: KubeObject,
  namespaces: readonly string[] | undefined,
): boolean =>
  group === '' && plural === 'namespaces' && namespaces !== undefined && !namespaces.includes(metadata.name ?? '')
