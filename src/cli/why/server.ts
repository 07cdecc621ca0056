/** The API client of `t8s why`; uses only calls that every Kubernetes supports. */

import { Agent, request } from 'node:https'
import type { NamedRole, Question, Roles } from '../../apiserver/authorization/rbac/explain.ts'
import type { PolicyRule, RoleRef, Subject } from '../../apiserver/authorization/rbac/index.ts'
import { type Discovery, discoveryOf } from '../../client/discovery/discovery.ts'
import { authorizationOf, type Connection } from '../../kubeconfig/connection.ts'
import { parseJson } from '../../lib/exact-json.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { refuseUpgrade } from '../../lib/refuse-upgrade.ts'

const timeoutMs = 30_000
const pageSize = 500
const aggregated = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join()
const rbac = '/apis/rbac.authorization.k8s.io/v1'

interface Item {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly PolicyRule[] | null
  readonly roleRef?: RoleRef
  readonly subjects?: readonly Subject[] | null
}

/** A resource from discovery. */
export interface KnownResource {
  readonly group: string
  readonly name: string
  readonly namespaced: boolean
}

interface DiscoveredResource {
  readonly name: string
  readonly singularName?: string
  readonly namespaced: boolean
  readonly kind: string
  readonly shortNames?: readonly string[]
}

export interface Verdict {
  readonly allowed: boolean
  readonly reason?: string
  readonly evaluationError?: string
}

export class WhyServer {
  readonly #url: string
  readonly #authorization: (() => Promise<string>) | undefined
  readonly #agent: Agent

  constructor(connection: Connection) {
    const { url, ca, cert, key, insecure, serverName } = connection
    this.#url = url.href.replace(/\/+$/, '')
    this.#authorization = authorizationOf(connection)
    this.#agent = new Agent({
      keepAlive: true,
      ca,
      cert,
      key,
      rejectUnauthorized: !insecure,
      ...(serverName && { servername: serverName }),
    })
  }

  close(): void {
    this.#agent.destroy()
  }

  async roles(): Promise<Roles> {
    const [clusterRoles, roles, clusterRoleBindings, roleBindings] = await Promise.all(
      ['clusterroles', 'roles', 'clusterrolebindings', 'rolebindings'].map((plural) =>
        this.all<Item>(`${rbac}/${plural}`),
      ),
    )
    const role =
      (kind: NamedRole['kind']) =>
      ({ metadata: { name, namespace = '' }, rules }: Item): NamedRole => ({
        kind,
        namespace,
        name,
        rules: rules ?? [],
      })
    return {
      roles: [...clusterRoles!.map(role('ClusterRole')), ...roles!.map(role('Role'))],
      bindings: [...clusterRoleBindings!, ...roleBindings!].flatMap(
        ({ metadata: { name, namespace = '' }, roleRef, subjects }) =>
          roleRef ? { namespace, name, roleRef, subjects: subjects ?? [] } : [],
      ),
    }
  }

  /** Asks the server's own authorizers (SubjectAccessReview). */
  async verdict(
    user: string,
    groups: readonly string[],
    { isResourceRequest, path, verb, ...place }: Question,
  ): Promise<Verdict> {
    const { group, resource, subresource, name, namespace } = place
    const about = isResourceRequest
      ? { resourceAttributes: { verb, group, resource, subresource, name, namespace } }
      : { nonResourceAttributes: { path, verb } }
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, groups, ...about },
    }
    const { status } = await this.#call<{ readonly status: Verdict }>(
      'POST',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body,
    )
    return status
  }

  /** Finds the resource for `pods`, `po`, `deployments.apps` or `Deployment`. */
  async resource(text: string): Promise<KnownResource | undefined> {
    const [word = '', ...rest] = text.split('.')
    const groupPrefix = rest.join('.')
    const { groups } = await this.#call<{
      readonly groups: readonly {
        readonly name: string
        readonly preferredVersion: { readonly groupVersion: string }
      }[]
    }>('GET', '/apis')
    const places = [
      { group: '', path: '/api/v1' },
      ...groups.map(({ name, preferredVersion }) => ({ group: name, path: `/apis/${preferredVersion.groupVersion}` })),
    ]
    const matching =
      groupPrefix === ''
        ? places
        : places.filter(({ group }) => group === groupPrefix || group.startsWith(`${groupPrefix}.`))
    for (const { group, path } of matching) {
      // Skip groups whose API is unavailable.
      const { resources } = await this.#call<{ readonly resources: readonly DiscoveredResource[] }>('GET', path).catch(
        () => ({ resources: [] }),
      )
      const found = resources.find((resource) => !resource.name.includes('/') && matchesName(resource, word))
      if (found) return { group, name: found.name, namespaced: found.namespaced }
    }
    return undefined
  }

  /**
   * All resources. Rejects with an ExplainedError for servers without aggregated discovery (before Kubernetes 1.26).
   */
  async discovery(): Promise<Discovery> {
    const roots = await Promise.all(
      ['/api', '/apis'].map((path) =>
        this.#call<{ readonly kind: string; readonly items?: Parameters<typeof discoveryOf>[0] }>(
          'GET',
          path,
          undefined,
          aggregated,
        ),
      ),
    )
    if (roots.some(({ kind }) => kind !== 'APIGroupDiscoveryList'))
      throw new ExplainedError(`${this.#url} has no aggregated discovery: use Kubernetes 1.26 or newer`)
    return discoveryOf(roots.flatMap(({ items }) => items ?? []))
  }

  /** Returns an object or another document, or undefined if it does not exist. */
  async get<T>(path: string): Promise<T | undefined> {
    try {
      return await this.#call<T>('GET', path)
    } catch (error) {
      if (error instanceof ErrorResponse && error.code === 404) return undefined
      throw error
    }
  }

  /** Reads all pages of a collection. */
  async all<T>(path: string): Promise<readonly T[]> {
    const items: T[] = []
    let token = ''
    do {
      const query = new URLSearchParams({ limit: String(pageSize), ...(token && { continue: token }) })
      const page = await this.#call<{
        readonly items: readonly T[] | null
        readonly metadata: { readonly continue?: string }
      }>('GET', `${path}?${query}`)
      items.push(...(page.items ?? []))
      token = page.metadata.continue ?? ''
    } while (token)
    return items
  }

  async delete(path: string): Promise<void> {
    await this.#call('DELETE', path)
  }

  /** Tries a deletion with dryRun. Returns the server's message if it is rejected. */
  async deletionError(path: string): Promise<string | undefined> {
    try {
      await this.#call('DELETE', `${path}?dryRun=All`)
      return undefined
    } catch (error) {
      if (!(error instanceof ErrorResponse)) throw error
      return error.code === 404 ? undefined : error.serverMessage
    }
  }

  async #call<T>(method: string, path: string, body?: object, accept = 'application/json'): Promise<T> {
    const url = this.#url
    const authorization = await this.#authorization?.()
    const headers = {
      accept,
      ...(body && { 'content-type': 'application/json' }),
      ...(authorization && { authorization }),
    }
    return new Promise<T>((done, reject) => {
      const clientRequest = request(
        `${url}${path}`,
        { method, agent: this.#agent, headers, timeout: timeoutMs },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            const code = response.statusCode ?? 0
            if (code >= 300) reject(errorResponse(url, path, code, text))
            else done(parseJson(text) as T)
          })
        },
      )
      refuseUpgrade(clientRequest).on('timeout', () =>
        clientRequest.destroy(new Error(`no response within ${timeoutMs / 1000} s`)),
      )
      clientRequest.on('error', (error) =>
        reject(
          error instanceof ExplainedError
            ? error
            : new ExplainedError(`cannot reach ${url}: ${reasonOf(error)}; is the cluster running?`, { cause: error }),
        ),
      )
      clientRequest.end(body && JSON.stringify(body))
    })
  }
}

const matchesName = ({ name, singularName, kind, shortNames }: DiscoveredResource, word: string): boolean => {
  const lower = word.toLowerCase()
  return (
    name === lower || singularName === lower || kind.toLowerCase() === lower || shortNames?.includes(lower) === true
  )
}

/** An error response. */
class ErrorResponse extends ExplainedError {
  readonly code: number
  /** The message of the server's Status. */
  readonly serverMessage: string

  constructor(code: number, serverMessage: string, explained: string) {
    super(explained)
    this.code = code
    this.serverMessage = serverMessage
  }
}

function errorResponse(url: string, path: string, code: number, text: string): ErrorResponse {
  let message = text
  try {
    message = (JSON.parse(text) as { readonly message?: string }).message ?? text
  } catch {
    // The response may be from a proxy, not from Kubernetes.
  }
  const hint = code === 401 || code === 403 ? ": use the administrator's kubeconfig" : ''
  return new ErrorResponse(
    code,
    message.trim(),
    `${url}${path.replace(/\?.*/, '')} returned ${code} (${message.trim()})${hint}`,
  )
}
