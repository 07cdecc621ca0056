/**
 * The ConfigMap `extension-apiserver-authentication`, by which servers of aggregated APIs authenticate the front proxy
 * and users. It is corrected after each change; authorities that others have added remain until they expire.
 */
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject, Unstructured } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { Store } from '../../storage/store.ts'
import type { RequestHeaderOptions } from '../authentication/request-header.ts'
import { type Bundle, bundleText, certificatesOf } from '../certificates/signed-by.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { createObject } from '../registry/write/create-object.ts'
import { updateObject } from '../registry/write/update-object.ts'
import type { Writer } from '../registry/write/write-context.ts'

const namespace = 'kube-system'
const name = 'extension-apiserver-authentication'
/** Time before a watch that has ended is replaced, in ms. */
const retryMs = 1000

type Data = Readonly<Record<string, string>>

export interface AuthenticationConfigMapOptions {
  readonly configMaps: ServedResource
  readonly context: Writer
  readonly clientCA: Bundle | undefined
  readonly requestHeader: RequestHeaderOptions | undefined
  readonly log: (line: string) => void
}

/**
 * Writes the ConfigMap, and corrects it until `signal` is aborted. Resolves to a function that updates it after a
 * change of authorities.
 */
export async function publishAuthentication(
  options: AuthenticationConfigMapOptions,
  signal: AbortSignal,
): Promise<() => void> {
  const { configMaps, context, log } = options
  const key = configMaps.key(namespace, name)
  let running = Promise.resolve()
  const sync = (): void => {
    running = running
      .then(() => ensure(options))
      .catch((error) => log(`the ConfigMap ${namespace}/${name} is not as it should be: ${error}`))
  }
  await followKey(context.registry.storeOf(configMaps), key, sync, signal)
  sync()
  await running
  return sync
}

/** Calls back after each change of a key. A watch that has ended, since etcd lost its history, is replaced. */
async function followKey(store: Store, key: string, changed: () => void, signal: AbortSignal): Promise<void> {
  const restart = (): void => {
    if (signal.aborted) return
    followKey(store, key, changed, signal).then(changed, () => setTimeout(restart, retryMs).unref())
  }
  const watch = store.watch({ start: key, end: `${key}\0` }, await store.currentRevision(), {
    wantsPrevious: false,
    events: changed,
    end: () => setTimeout(restart, retryMs).unref(),
  })
  if (signal.aborted) watch.stop()
  signal.addEventListener('abort', () => watch.stop(), { once: true })
}

async function ensure({ configMaps, context, ...given }: AuthenticationConfigMapOptions): Promise<void> {
  const { registry } = context
  const place = { ...context, resource: configMaps, namespace, name, subresource: '' }
  const live = (await registry.newest(configMaps, configMaps.key(namespace, name)))?.parse<Unstructured>()
  const wanted = required(given, (live?.data ?? {}) as Data)
  if (live && isDeepStrictEqual(live.data ?? {}, wanted)) return
  try {
    if (!live)
      await createObject(place, {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name, namespace },
        // An empty map is absent, as after decoding a request.
        ...(Object.keys(wanted).length > 0 && { data: wanted }),
      } as KubeObject)
    else {
      const change = (object: KubeObject | undefined) => ({
        object: { ...object!, data: required(given, ((object as Unstructured).data ?? {}) as Data) } as KubeObject,
      })
      await updateObject(place, { startsFromLive: true, change })
    }
  } catch (error) {
    // Another server wrote or deleted it: the watch event triggers a retry.
    if (!(error instanceof StatusError && (error.code === 409 || error.code === 404))) throw error
  }
}

/** The required data merged with the present data. */
function required(
  { clientCA, requestHeader }: Pick<AuthenticationConfigMapOptions, 'clientCA' | 'requestHeader'>,
  present: Data,
): Data {
  const names = (key: string, ours: readonly string[]): string =>
    JSON.stringify([...new Set([...listed(present[key]), ...ours])])
  return {
    ...present,
    ...(clientCA && { 'client-ca-file': bundle(present['client-ca-file'], bundleText(clientCA)) }),
    ...(requestHeader && {
      'requestheader-allowed-names': names('requestheader-allowed-names', requestHeader.allowedNames),
      'requestheader-client-ca-file': bundle(
        present['requestheader-client-ca-file'],
        bundleText(requestHeader.clientCA),
      ),
      'requestheader-extra-headers-prefix': names(
        'requestheader-extra-headers-prefix',
        requestHeader.extraHeadersPrefix,
      ),
      'requestheader-group-headers': names('requestheader-group-headers', requestHeader.groupHeaders),
      'requestheader-uid-headers': names('requestheader-uid-headers', requestHeader.uidHeaders),
      'requestheader-username-headers': names('requestheader-username-headers', requestHeader.usernameHeaders),
    }),
  }
}

function listed(text: string | undefined): readonly string[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
  } catch {
    // Another client has written an invalid value.
    return []
  }
}

/** The certificates of both bundles without duplicates and expired ones. */
function bundle(present: string | undefined, ours: string): string {
  const all = new Map(
    [...readable(present), ...certificatesOf(ours)].map((certificate) => [certificate.fingerprint256, certificate]),
  )
  return [...all.values()]
    .filter(({ validToDate }) => validToDate.getTime() > Date.now())
    .map((certificate) => `${certificate.toString().trim()}\n`)
    .join('')
}

function readable(text: string | undefined): ReturnType<typeof certificatesOf> {
  try {
    return certificatesOf(text ?? '')
  } catch {
    return []
  }
}
