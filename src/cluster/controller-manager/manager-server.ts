/**
 * The pages of a controller manager: `/healthz`, `/metrics`, `/metrics/slis`, `/configz`, and the controllers' state
 * (`/debug/controllers/`).
 */
import type { HealthCheck } from '../../apiserver/health/health.ts'
import { json, type Request, type Response, text } from '../../apiserver/http/exchange.ts'
import type { RunningControllers } from '../../controllers/index.ts'
import type { DelegatedAccess } from '../component-server/delegated-access.ts'
import { type ComponentServer, serveComponent } from '../component-server/index.ts'
import type { KeyPair } from '../pki/key-pair.ts'

export interface ManagerServerOptions {
  readonly bindAddress: string
  readonly port: number
  /** The flag that sets the port. */
  readonly portFlag: string
  readonly tls: KeyPair
  readonly access: DelegatedAccess
  /** Undefined while another manager leads. */
  readonly running: () => RunningControllers | undefined
  /** Besides those of the controllers. */
  readonly checks: readonly HealthCheck[]
  readonly metrics: () => string
  readonly configuration: object
  readonly profiling?: boolean
}

/** Upstream's names. */
const pagesOfControllers = '/debug/controllers/'
const configurationName = 'kubecontrollermanager.config.k8s.io'
/** Starts to listen. Rejects with an ExplainedError if the port is not available. */
export function serveManager({
  running,
  checks,
  metrics,
  configuration,
  ...server
}: ManagerServerOptions): Promise<ComponentServer> {
  return serveComponent({
    ...server,
    checks: () => [
      ...checks,
      ...(running()?.names ?? []).map((name): HealthCheck => ({ name, check: () => undefined })),
    ],
    pages: {
      '/metrics': () => text(200, metrics(), { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
      '/configz': () => json(200, { [configurationName]: configuration }),
      [pagesOfControllers]: (request) => controllerPage(request, running()),
    },
  })
}

/** `/debug/controllers/NAME/PAGE` */
function controllerPage({ path, query }: Request, running: RunningControllers | undefined): Response | undefined {
  const [name = '', page = ''] = path.slice(pagesOfControllers.length).split('/', 2)
  const write = running?.page(name, page)
  return write && text(200, write(query), { 'content-type': 'text/vnd.graphviz' })
}
