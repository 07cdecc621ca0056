/** A stand-in for Google Compute Engine: routes, operations that take a while, and metadata with tokens. */
import type { Lifetime } from '../../support/test-cluster.ts'
import { type CloudInstance, type CloudQuestion, type CloudReply, serveCloud } from './cloud-server.ts'

interface GceRoute {
  readonly name: string
  readonly destRange: string
  readonly network: string
  readonly nextHopInstance: string
}

const token = 'ya29.token'

export class GceCloud {
  /** The routes of the project by their names. */
  readonly routes = new Map<string, GceRoute>()
  /** Methods and paths of all accepted calls. */
  readonly calls: string[] = []
  /** Errors of the next operations. */
  readonly operationErrors: string[] = []
  #operations = 0
  readonly #finished = new Map<string, string | undefined>()
  url = ''
  readonly #instances: readonly CloudInstance[]

  constructor(instances: readonly CloudInstance[]) {
    this.#instances = instances
  }

  async start(t: Lifetime, address: string): Promise<this> {
    this.url = await serveCloud(t, address, (question) =>
      question.url.pathname.startsWith('/computeMetadata/') ? this.#metadata(question) : this.#api(question),
    )
    return this
  }

  #metadata({ url, headers, client }: CloudQuestion): CloudReply {
    if (headers['metadata-flavor'] !== 'Google') return { status: 403, text: '' }
    const id = this.#instances.find((instance) => instance.address === client)?.id
    const values: Readonly<Record<string, string>> = {
      'instance/network-interfaces/0/network': 'projects/1234/networks/pods',
      'project/project-id': 'lab',
      'instance/zone': 'projects/1234/zones/europe-west1-b',
      'instance/hostname': `${id}.c.lab.internal`,
      'instance/service-accounts/default/token': JSON.stringify({
        access_token: token,
        expires_in: 3600,
      }),
    }
    const value = values[url.pathname.replace('/computeMetadata/v1/', '')]
    return value === undefined ? { status: 404, text: '' } : { status: 200, text: value }
  }

  #api({ method, url, headers, body }: CloudQuestion): CloudReply {
    if (headers.authorization !== `Bearer ${token}`) return fault(401, 'authError')
    const prefix = '/compute/v1/projects/lab/'
    if (!url.pathname.startsWith(prefix)) return fault(403, 'forbidden')
    const path = url.pathname.slice(prefix.length)
    this.calls.push(`${method} ${path}`)
    const name = path.split('/').at(-1) ?? ''
    if (path.startsWith('global/operations/')) return this.#operation(name)
    if (/^(?:global\/networks|zones\/europe-west1-b\/instances)\/[^/]+$/.test(path))
      return answer({ name, selfLink: `https://compute.example/${path}` })
    if (method === 'POST' && path === 'global/routes') return this.#start(() => this.#insert(JSON.parse(body)))
    const route = this.routes.get(name)
    if (!path.startsWith('global/routes/') || !route) return fault(404, 'notFound')
    return method === 'DELETE' ? this.#start(() => this.routes.delete(name)) : answer(route)
  }

  #insert(route: GceRoute): void {
    this.routes.set(route.name, route)
  }

  /** An operation is in progress at first, and takes effect when it is read. */
  #start(effect: () => void): CloudReply {
    const name = `operation-${++this.#operations}`
    const error = this.operationErrors.shift()
    if (!error) effect()
    this.#finished.set(name, error)
    return answer({ name, status: 'RUNNING' })
  }

  #operation(name: string): CloudReply {
    const error = this.#finished.get(name)
    return answer({ name, status: 'DONE', ...(error && { error: { errors: [{ code: error, message: 'no' }] } }) })
  }
}

const answer = (value: object): CloudReply => ({ status: 200, text: JSON.stringify(value) })
const fault = (status: number, reason: string): CloudReply => ({
  status,
  text: JSON.stringify({ error: { code: status, message: 'the call is rejected.', errors: [{ reason }] } }),
})
