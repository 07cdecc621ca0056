/** The APIs that come and go while the server runs: custom resources, and those that other servers answer. */
import { Aggregator, publishAuthentication } from '../aggregator/index.ts'
import { customResources } from '../crd/index.ts'
import type { WaitGroup } from '../http/wait-group.ts'
import type { Places } from '../proxy/index.ts'
import type { Writer } from '../registry/write/write-context.ts'
import type { ApiServerOptions } from '../server-options.ts'
import type { Lifetime } from './lifetime.ts'
import type { Resources } from './resources.ts'

export interface AddedApis {
  readonly aggregator: Aggregator
  /** Resolves when all that are there are served, with a function that tells other servers of new authorities. */
  start(): Promise<() => void>
}

interface AddedApisSources extends Resources {
  readonly writer: Writer
  readonly places: Places
  readonly waitGroup: WaitGroup
  readonly lifetime: Lifetime
  readonly log: (line: string) => void
}

export function addedApis(options: ApiServerOptions, sources: AddedApisSources): AddedApis {
  const { registry, find, apis, builtInGroups, writer, places, waitGroup, lifetime, log } = sources
  const { proxyClient: client, clientCA, requestHeader } = options
  const definitions = find('apiextensions.k8s.io/v1/customresourcedefinitions')
  const custom = customResources({ registry, apis, definitions, writer, webhooks: places, log })
  const aggregator = new Aggregator({
    apiServices: find('apiregistration.k8s.io/v1/apiservices'),
    sources: places,
    builtIn: builtInGroups.flatMap(({ versions }) => versions),
    client,
    context: writer,
    waitGroup,
    log,
  })
  const stopping = new AbortController()
  return {
    aggregator,
    async start() {
      lifetime.onEnd(() => aggregator.stop())
      lifetime.onEnd(() => custom.stop())
      lifetime.onEnd(() => stopping.abort())
      const [republish] = await Promise.all([
        publishAuthentication(
          { configMaps: find('v1/configmaps'), context: writer, clientCA, requestHeader, log },
          stopping.signal,
        ),
        aggregator.start(),
      ])
      await custom.start()
      await aggregator.followCustom(apis)
      return republish
    },
  }
}
