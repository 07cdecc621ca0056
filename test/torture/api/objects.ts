/** The objects of the API torture: four small kinds that contain a count in the metadata and in the payload. */

export type Kind = 'configmaps' | 'secrets' | 'podtemplates' | 'leases'

/** The inspected part of an object. */
export interface Seen {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly resourceVersion: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly data?: Readonly<Record<string, string>>
  readonly template?: { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } }
  readonly spec?: { readonly holderIdentity?: string }
}

interface KindFacts {
  readonly path: string
  readonly apiVersion: string
  readonly kind: string
  readonly payload: (count: number) => object
  readonly payloadCount: (object: Seen) => string | undefined
  /** True if a PUT without a resourceVersion is allowed. */
  readonly unconditionalUpdate: boolean
}

const facts: Readonly<Record<Kind, KindFacts>> = {
  configmaps: {
    path: '/api/v1',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    payload: (count) => ({ data: { count: String(count) } }),
    payloadCount: ({ data }) => data?.count,
    unconditionalUpdate: true,
  },
  secrets: {
    path: '/api/v1',
    apiVersion: 'v1',
    kind: 'Secret',
    payload: (count) => ({ data: { count: Buffer.from(String(count)).toString('base64') } }),
    payloadCount: ({ data }) => data?.count && Buffer.from(data.count, 'base64').toString(),
    unconditionalUpdate: true,
  },
  podtemplates: {
    path: '/api/v1',
    apiVersion: 'v1',
    kind: 'PodTemplate',
    payload: (count) => ({
      template: {
        metadata: { labels: { count: String(count) } },
        spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] },
      },
    }),
    payloadCount: ({ template }) => template?.metadata?.labels?.count,
    unconditionalUpdate: true,
  },
  leases: {
    path: '/apis/coordination.k8s.io/v1',
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    payload: (count) => ({ spec: { holderIdentity: String(count) } }),
    payloadCount: ({ spec }) => spec?.holderIdentity,
    unconditionalUpdate: false,
  },
}

export const kinds = Object.keys(facts) as readonly Kind[]
/** The first contains most of the objects, so that lists of the others are cheap. */
export const namespaces = ['crowd', 'north', 'south', 'west'] as const
/** Contains one object of each kind, as a template. */
export const templateNamespace = 'templates'

/** Returns true for namespaces of the torture; the server has objects of its own. */
export const isOurs = (namespace: string): boolean => (namespaces as readonly string[]).includes(namespace)

/** Values of the label `shard`, which lists and watches select by. */
export const shards = [0, 1, 2, 3] as const

export const allowsUnconditionalUpdate = (kind: Kind): boolean => facts[kind].unconditionalUpdate

/** The path of a kind's collection, in one namespace or all. */
export const collectionPath = (kind: Kind, namespace?: string): string =>
  `${facts[kind].path}${namespace ? `/namespaces/${namespace}` : ''}/${kind}`

export const objectPath = (kind: Kind, namespace: string, name: string): string =>
  `${collectionPath(kind, namespace)}/${name}`

export interface Content {
  readonly count: number
  readonly shard: number
}

/** The body of a create or update; `resourceVersion` makes it conditional. */
export function bodyOf(kind: Kind, name: string, content: Content, resourceVersion?: number): object {
  const { apiVersion, kind: kindName } = facts[kind]
  const { metadata, ...payload } = patchOf(kind, content, resourceVersion)
  return { apiVersion, kind: kindName, metadata: { name, ...metadata }, ...payload }
}

/** The body of a merge patch that sets an object's content. */
export function patchOf(
  kind: Kind,
  { count, shard }: Content,
  resourceVersion?: number,
): { readonly metadata: object } {
  const metadata = {
    labels: { shard: String(shard) },
    annotations: { count: String(count) },
    ...(resourceVersion && { resourceVersion: String(resourceVersion) }),
  }
  return { metadata, ...facts[kind].payload(count) }
}

/** Reads the content of an object. Throws if its parts are of different writes. */
export function contentOf(kind: Kind, object: Seen): Content {
  const { name, namespace, resourceVersion, labels, annotations } = object.metadata
  const count = annotations?.count
  const payload = facts[kind].payloadCount(object)
  if (count === undefined || payload !== count)
    throw new Error(
      `${kind} ${namespace}/${name} at ${resourceVersion} is torn: count ${count} in its metadata, ${payload} in ` +
        'its payload',
    )
  return { count: Number(count), shard: Number(labels?.shard) }
}
