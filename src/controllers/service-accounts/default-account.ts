/** Maintains the service account `default` in every namespace, which is the default account of pods. */
import { type Controller, watch } from '../../client/controller/controller.ts'
import { serviceAccounts as accounts, namespaces } from '../../client/kinds.ts'

const accountName = 'default'

export const serviceAccountController: Controller = {
  name: 'serviceaccount-controller',
  concurrency: 4,
  watches: [
    watch({ resource: namespaces }),
    watch({
      resource: accounts,
      selection: { fieldSelector: `metadata.name=${accountName}` },
      keys: ({ metadata }) => [metadata.namespace ?? ''],
    }),
  ],
  async reconcile(namespace, { client, caches }) {
    if (
      caches.get(namespaces, '', namespace)?.status?.phase !== 'Active' ||
      caches.get(accounts, namespace, accountName)
    )
      return
    await client.create(accounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: accountName, namespace },
    })
  },
}
