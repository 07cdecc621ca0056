/**
 * An operator: a Website becomes a page in a ConfigMap and a Deployment that serves it. `kubectl apply -f
 * website.yaml`, then `node operator.ts`.
 */
import {
  configMaps,
  connectTo,
  controller,
  controllerReference,
  deployments,
  type KubeObject,
  manager,
  resource,
  stopSignals,
} from 'typernetes/client'

interface Website extends KubeObject {
  spec: { html: string; replicas?: number }
  status?: { readyReplicas: number }
}
const websites = resource<Website>('example.com/v1', 'Website', 'websites')
const name = 'website-operator'

const websiteController = controller({
  name,
  for: websites,
  owns: [configMaps, deployments],
  async reconcile(request, { caches, client, events }) {
    const website = caches.get(websites, request.namespace, request.name)
    if (!website || website.metadata.deletionTimestamp) return
    const { html, replicas = 1 } = website.spec
    const place = { name: request.name, namespace: request.namespace }
    const metadata = { ...place, ownerReferences: [controllerReference(website)] }
    const labels = { website: request.name }
    const volumes = [{ name: 'html', configMap: { name: request.name } }]
    const containers = [
      { name: 'web', image: 'nginx', volumeMounts: [{ name: 'html', mountPath: '/usr/share/nginx/html' }] },
    ]
    await client.apply(configMaps, { metadata, data: { 'index.html': html } }, name)
    const template = { metadata: { labels }, spec: { containers, volumes } }
    await client.apply(deployments, { metadata, spec: { replicas, selector: { matchLabels: labels }, template } }, name)

    const readyReplicas = caches.get(deployments, request.namespace, request.name)?.status?.readyReplicas ?? 0
    if (website.status?.readyReplicas === readyReplicas) return
    await client.apply(
      websites,
      { metadata: place, status: { readyReplicas } },
      { fieldManager: name, subresource: 'status' },
    )
    events.record(website, 'Normal', 'Scaled', `${readyReplicas} of ${replicas} replicas serve the page`)
  },
})

const client = await connectTo()
const running = manager({
  client,
  controllers: [websiteController],
  leaderElection: { namespace: client.namespace, name },
})
stopSignals().addEventListener('abort', () => void running.stop())
console.log(`${name} ended: ${await running.ended}`)
client.close()
