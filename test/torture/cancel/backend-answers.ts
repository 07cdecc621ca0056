/** The responses of a correct backend in a cancel storm, by path; and wrong ones of the right form. */
export interface Answer {
  readonly status: number
  readonly body: string
  /** The response does not end: a followed log, a watch. */
  readonly stream?: boolean
}

interface Review {
  readonly apiVersion: string
  readonly kind: string
  readonly request?: {
    readonly uid: string
    readonly operation?: string
    readonly desiredAPIVersion?: string
    readonly objects?: readonly object[]
  }
  readonly spec?: { readonly token?: string; readonly user?: string }
}

export const stormGroup = 'storm.example.com'

/** The user of every token that the webhook accepts. */
export const webhookUser = 'stranger'

const json = (value: unknown, status = 200): Answer => ({ status, body: JSON.stringify(value) })

/** A wrong response refers to another request, or is of another kind or type. */
export function answerTo(url: string, sent: string, lies: boolean): Answer {
  const { pathname, searchParams } = new URL(url, 'https://backend')
  const first = pathname.split('/')[1] ?? ''
  const review = reviews[first]
  if (review) return json(review(parsed(sent), lies))
  if (first === 'apis') return aggregated(pathname, searchParams, lies)
  if (first === 'containerLogs') return { status: 200, body: 'a line\n', stream: searchParams.has('follow') }
  return { status: 200, body: lies ? '' : 'ok\n' }
}

function parsed(text: string): Review {
  try {
    return JSON.parse(text) as Review
  } catch {
    return { apiVersion: '', kind: '' }
  }
}

const reviews: Readonly<Record<string, (review: Review, lies: boolean) => object>> = {
  mutate: ({ apiVersion, kind, request }, lies) => {
    const patch = [
      { op: 'add', path: lies ? '/metadata/nowhere/deep' : '/metadata/annotations', value: { mutated: 'true' } },
    ]
    const encoded = Buffer.from(JSON.stringify(patch)).toString('base64')
    const changes = request?.operation === 'CREATE' || request?.operation === 'UPDATE'
    const response = { uid: request?.uid, allowed: true, ...(changes && { patchType: 'JSONPatch', patch: encoded }) }
    return { apiVersion, kind, response }
  },
  validate: ({ apiVersion, kind, request }, lies) => ({
    apiVersion,
    kind: lies ? 'Lie' : kind,
    response: { uid: request?.uid, allowed: true, warnings: ['a warning'], auditAnnotations: { seen: 'true' } },
  }),
  convert: ({ apiVersion, kind, request }, lies) => {
    const convertedObjects = request?.objects?.map((object) => ({ ...object, apiVersion: request.desiredAPIVersion }))
    const response = {
      uid: request?.uid,
      convertedObjects: lies ? [] : convertedObjects,
      result: { status: 'Success' },
    }
    return { apiVersion, kind, response }
  },
  authorize: ({ apiVersion, kind, spec }, lies) => ({
    apiVersion,
    kind: lies ? 'TokenReview' : kind,
    status: { allowed: spec?.user === webhookUser, ...(lies && { denied: true }) },
  }),
  authenticate: ({ apiVersion, kind, spec }, lies) => {
    const isKnown = spec?.token?.startsWith('hook-') ?? false
    const user = { username: webhookUser, groups: ['strangers'] }
    return { apiVersion: lies ? 'v7' : apiVersion, kind, status: { authenticated: isKnown, ...(isKnown && { user }) } }
  },
  images: ({ apiVersion, kind }, lies) => ({ apiVersion, kind: lies ? 'Lie' : kind, status: { allowed: true } }),
  audit: () => ({}),
}

const apple = {
  apiVersion: `${stormGroup}/v1`,
  kind: 'Apple',
  metadata: { name: 'a', namespace: 'storm', resourceVersion: '1' },
}

function aggregated(pathname: string, query: URLSearchParams, lies: boolean): Answer {
  if (pathname === `/apis/${stormGroup}/v1`) {
    const verbs = ['get', 'list', 'watch', 'create', 'delete']
    const resources = [{ name: 'apples', singularName: 'apple', namespaced: true, kind: 'Apple', verbs }]
    return json({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: lies ? 'lie/v9' : `${stormGroup}/v1`,
      resources,
    })
  }
  if (!pathname.includes('/apples'))
    return json({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 }, 404)
  if (query.has('watch'))
    return { status: 200, body: `${JSON.stringify({ type: 'ADDED', object: apple })}\n`, stream: true }
  if (pathname.endsWith('/apples'))
    return json({
      kind: 'AppleList',
      apiVersion: `${stormGroup}/v1`,
      metadata: { resourceVersion: '1' },
      items: [apple],
    })
  return json(lies ? [] : apple)
}
