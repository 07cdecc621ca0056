/** APIs that are added and removed while the server runs: custom resources and aggregated APIs. */
import { PolicyStatus } from '../admission/policies/validating/policy-status.ts'
import { availabilityMetrics } from '../aggregator/availability-metrics.ts'
import { Aggregator, publishAuthentication } from '../aggregator/index.ts'
import { customResources } from '../crd/index.ts'
import { component } from './component.ts'

export const addedApis = component({
  name: 'added APIs',
  needs: [
    'options',
    'registry',
    'find',
    'apis',
    'builtInGroups',
    'writer',
    'places',
    'waitGroup',
    'metrics',
    'boot',
    'log',
  ],
  gives: ['aggregator', 'republish'],
  async start(parts, lifetime) {
    const { options, registry, find, apis, builtInGroups, writer, places, waitGroup, metrics, boot, log } = parts
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
    availabilityMetrics(metrics, aggregator)
    const stopping = new AbortController()
    lifetime.onEnd(() => aggregator.stop())
    lifetime.onEnd(() => custom.stop())
    lifetime.onEnd(() => stopping.abort())
    const authentication = { configMaps: find('v1/configmaps'), context: writer, clientCA, requestHeader, log }
    const start = async (): Promise<() => void> => {
      const [republish] = await Promise.all([
        publishAuthentication(authentication, stopping.signal),
        aggregator.start(),
      ])
      await custom.start()
      await aggregator.followCustom(apis)
      return republish
    }
    return { aggregator, republish: await boot.during('addedApis', start()) }
  },
})

/** Checks the expressions of admission policies against the schemas of all APIs, and updates their status. */
export const policyStatus = component({
  name: 'policy status',
  needs: ['registry', 'find', 'apis', 'writer', 'log'],
  gives: [],
  async start({ registry, find, apis, writer, log }, lifetime) {
    const policies = find('admissionregistration.k8s.io/v1/validatingadmissionpolicies')
    const status = new PolicyStatus({ registry, policies, apis, writer, log })
    lifetime.onEnd(() => status.stop())
    await status.start()
    return {}
  },
})
