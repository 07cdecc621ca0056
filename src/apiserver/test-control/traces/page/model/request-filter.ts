/** Selects requests of a trace. */
import type { TracedRequest } from '../../trace-data.ts'

export interface RequestFilter {
  /** Words that path, user, user agent or bodies contain, all of them; upper and lower case are the same. */
  readonly text: string
  readonly verb: string
  readonly resource: string
  readonly user: string
  /** `errors`, `faults`, or the first digit of the status. */
  readonly status: string
  /** True to include the requests of controllers, scheduler and nodes. */
  readonly components: boolean
  /** In ms since 1970. */
  readonly from?: number
  readonly to?: number
}

export const noFilter: RequestFilter = { text: '', verb: '', resource: '', user: '', status: '', components: false }

const componentUser = /^system:(?!anonymous$|serviceaccount:(?!kube-system:))/

/** Returns true for controllers, schedulers and nodes. */
export const isComponent = ({ user }: TracedRequest): boolean => componentUser.test(user)

/** `pods/status`, or the path of a request that is for no resource. */
export const targetOf = ({ resource, subresource, path }: TracedRequest): string =>
  resource ? `${resource}${subresource && `/${subresource}`}` : path.split('?')[0]!

export function selectRequests(requests: readonly TracedRequest[], filter: RequestFilter): TracedRequest[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean)
  return requests.filter(
    (request) =>
      (filter.components || filter.user !== '' || !isComponent(request)) &&
      (filter.verb === '' || request.verb === filter.verb) &&
      (filter.resource === '' || targetOf(request) === filter.resource) &&
      (filter.user === '' || request.user === filter.user) &&
      hasStatus(request, filter.status) &&
      (filter.from === undefined || request.time >= filter.from) &&
      (filter.to === undefined || request.time < filter.to) &&
      (words.length === 0 || hasWords(request, words)),
  )
}

function hasStatus({ code, fault }: TracedRequest, status: string): boolean {
  if (status === '') return true
  if (status === 'errors') return code >= 400
  if (status === 'faults') return fault !== undefined
  return String(code).startsWith(status)
}

function hasWords(request: TracedRequest, words: readonly string[]): boolean {
  const { verb, path, user, userAgent, impersonator = '', code } = request
  const short = `${verb} ${path} ${user} ${userAgent} ${impersonator} ${code}`.toLowerCase()
  return words.every(
    (word) =>
      short.includes(word) ||
      request.request?.text.toLowerCase().includes(word) ||
      request.response?.text.toLowerCase().includes(word),
  )
}

/** The message of an error's Status; empty for other answers. */
export function messageOf({ code, response }: TracedRequest): string {
  if (code < 400 || !response) return ''
  try {
    const { message } = JSON.parse(response.text) as { readonly message?: unknown }
    return typeof message === 'string' ? message : ''
  } catch {
    return response.text.slice(0, 200)
  }
}
