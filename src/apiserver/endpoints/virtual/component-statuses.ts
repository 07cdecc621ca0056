/** `componentstatuses`: probes the components. Deprecated by Kubernetes, but still what `kubectl get cs` shows. */
import type { KubeObject } from '../../../machinery/object.ts'
import { notFound } from '../../../machinery/status-error.ts'
import type { HealthCheck } from '../../health/health.ts'
import { representationFor } from '../../negotiation/choose.ts'
import { selection } from '../../registry/cache/selection.ts'
import { unstored } from '../../registry/stored-object.ts'
import { listOptions } from '../../request-options/list-options.ts'
import { type Endpoint, objectResponse } from '../endpoint.ts'

interface ComponentStatus extends KubeObject {
  conditions: { type: string; status: string; message?: string; error?: string }[]
}

async function probe({ name, check }: HealthCheck): Promise<ComponentStatus> {
  const problem = await check()
  return {
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name },
    conditions: [
      {
        type: 'Healthy',
        ...(problem === undefined ? { status: 'True', message: 'ok' } : { status: 'False', message: problem }),
      },
    ],
  }
}

export const getComponentStatus: Endpoint = async ({ services, request, resource }) => {
  const representation = representationFor(request, resource, 'object')
  const { name } = request.info
  const component = services.components.find((component) => component.name === name)
  if (!component) throw notFound(resource.groupResource, name)
  return objectResponse(representation, unstored(resource, await probe(component)))
}

export const listComponentStatuses: Endpoint = async ({ services, request, resource }) => {
  const representation = representationFor(request, resource, 'list')
  const { labels, fields } = listOptions(request.query, resource, false)
  const chosen = selection(resource.prefix, labels, fields)
  const components = await Promise.all(services.components.map(probe))
  const objects = components
    .map((component) => unstored(resource, component))
    .filter((object) => chosen.matches(object))
  return {
    status: 200,
    headers: { 'content-type': representation.contentType },
    body: representation.list(objects, { resourceVersion: '' }),
  }
}
