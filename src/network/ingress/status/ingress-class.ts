/** The IngressClass of the proxy. */
import { ingressClasses } from '../../../client/kinds.ts'
import { isAlreadyExists } from '../../../client/rest/api-errors.ts'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { ingressController } from '../picture/ingress-routes.ts'

/** The name of the IngressClass and of the GatewayClass. */
export const className = 't8s'

const defaultAnnotation = 'ingressclass.kubernetes.io/is-default-class'

/** Creates the class if it is missing, as the default one unless another class is. Never changes an existing one. */
export async function createIngressClass(client: RestClient): Promise<void> {
  const { items } = await client.list(ingressClasses)
  const all = items ?? []
  if (all.some(({ metadata }) => metadata.name === className)) return
  const hasDefault = all.some(({ metadata }) => metadata.annotations?.[defaultAnnotation] === 'true')
  try {
    await client.create(ingressClasses, {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IngressClass',
      metadata: { name: className, ...(!hasDefault && { annotations: { [defaultAnnotation]: 'true' } }) },
      spec: { controller: ingressController },
    })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}
