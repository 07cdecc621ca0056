/** The Gateway API: reads its objects, computes their picture and writes their status. */
import { isAlreadyExists } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { GatewayWatches } from './gateway-watches.ts'
import { type GatewayPicture, gatewayController, pictureOfGateways } from './picture/gateway/gateway-picture.ts'
import {
  gatewayClasses,
  gatewayGroup,
  gateways,
  grpcRoutes,
  httpRoutes,
  referenceGrants,
} from './picture/gateway/kinds.ts'
import type { SecretWatches } from './secret-watches.ts'
import { GatewayStatusWriter } from './status/gateway-status.ts'
import { className } from './status/ingress-class.ts'

export interface GatewayApiOptions {
  readonly client: RestClient
  /** The addresses of the proxy. */
  readonly addresses: readonly string[]
  readonly secrets: SecretWatches
  readonly hasService: (namespace: string, name: string) => boolean
  /** Returns why a port is not open; undefined if it is. */
  readonly portFault: (port: number, isSecure: boolean) => string | undefined
  /** Called when the picture may have changed. */
  readonly changed: () => void
  readonly log: (line: string) => void
}

export class GatewayApi {
  readonly #options: GatewayApiOptions
  readonly #watches: GatewayWatches
  readonly #status: GatewayStatusWriter
  #hasCreatedClass = false

  constructor(options: GatewayApiOptions) {
    this.#options = options
    this.#watches = new GatewayWatches(options.client, options.changed, options.log)
    this.#status = new GatewayStatusWriter(options.client, options.addresses, options.log)
  }

  start(): void {
    this.#watches.start()
  }

  /** Undefined while the definitions are not installed, or their objects have not been read. */
  picture(): GatewayPicture | undefined {
    if (!this.#watches.isReady) return undefined
    const { addresses, secrets, hasService, portFault } = this.#options
    return pictureOfGateways({
      classes: this.#watches.all(gatewayClasses),
      gateways: this.#watches.all(gateways),
      httpRoutes: this.#watches.all(httpRoutes),
      grpcRoutes: this.#watches.all(grpcRoutes),
      grants: this.#watches.all(referenceGrants),
      addresses,
      hasService,
      portFault,
      secretFault: (namespace, name) => {
        const certificate = secrets.certificate(namespace, name)
        return certificate && 'fault' in certificate ? certificate.fault : undefined
      },
      namespaceLabels: (namespace) => this.#watches.namespaceLabels(namespace),
    })
  }

  /** Writes the status of all objects of the picture, and creates the class of this proxy if it is missing. */
  writeStatus(picture: GatewayPicture): void {
    this.#status.apply(picture)
    if (this.#hasCreatedClass) return
    this.#hasCreatedClass = true
    if (this.#watches.all(gatewayClasses).some(({ metadata }) => metadata.name === className)) return
    this.#createClass().catch((error: Error) => {
      this.#hasCreatedClass = false
      this.#options.log(`ingress: GatewayClass ${className} could not be created: ${error.message}`)
    })
  }

  async stop(): Promise<void> {
    await Promise.all([this.#watches.stop(), this.#status.stop()])
  }

  async #createClass(): Promise<void> {
    try {
      await this.#options.client.create(gatewayClasses, {
        apiVersion: `${gatewayGroup}/v1`,
        kind: 'GatewayClass',
        metadata: { name: className },
        spec: { controllerName: gatewayController },
      })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }
}
