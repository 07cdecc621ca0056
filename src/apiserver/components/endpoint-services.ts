/** What endpoints use of the server's parts. */
import { allResources } from '../../api/registry.ts'
import type { Services } from '../endpoints/endpoint.ts'
import { componentProbes, type LocalComponents } from '../health/components.ts'
import type { HealthCheck } from '../health/health.ts'
import type { WaitGroup } from '../http/wait-group.ts'
import type { Places } from '../proxy/index.ts'
import { knowsKind } from '../request/bodies/known-kinds.ts'
import type { Access } from './access.ts'
import type { Resources } from './resources.ts'

interface EndpointSources extends Pick<Resources, 'registry' | 'find'> {
  readonly access: Access
  readonly places: Places
  readonly waitGroup: WaitGroup
  readonly storeCheck: HealthCheck
  readonly components: LocalComponents | undefined
  readonly minRequestTimeoutSeconds: number | undefined
}

export function endpointServices({
  registry,
  find,
  access,
  places,
  waitGroup,
  storeCheck,
  components,
  minRequestTimeoutSeconds,
}: EndpointSources): Services {
  const { admission, authorizer, authentication } = access
  return {
    registry,
    admission,
    waitGroup,
    pods: places.pods,
    budgets: find('policy/v1/poddisruptionbudgets'),
    places,
    authorizer,
    tokens: authentication.tokens,
    serviceAccounts: authentication.serviceAccounts,
    secrets: find('v1/secrets'),
    components: componentProbes(storeCheck, components),
    knowsKind: knowsKind(allResources),
    minRequestTimeoutSeconds,
  }
}
