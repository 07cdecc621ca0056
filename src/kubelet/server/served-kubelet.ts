/** This node for the HTTP server of kubelets: its pages, logs and streams. */
import { HttpError } from '../../node/http-error.ts'
import type { ServedNodes } from '../../node/server/served-nodes.ts'
import { type ContainerLogsOptions, containerLog } from './pages/container-logs.ts'
import { KubeletPages, type KubeletPagesOptions } from './pages/kubelet-pages.ts'
import { podForStream } from './pages/served-pods.ts'
import { RuntimeStreams, type RuntimeStreamsOptions } from './streams/runtime-streams.ts'

export interface ServedKubeletOptions extends KubeletPagesOptions, ContainerLogsOptions, RuntimeStreamsOptions {
  readonly nodeName: string
  readonly runtime: KubeletPagesOptions['runtime'] & ContainerLogsOptions['runtime'] & RuntimeStreamsOptions['runtime']
}

const streamKinds = new Set(['exec', 'attach', 'portForward'])

/** The pages are shared with the servers for health and read-only access. */
export function servedKubelet(options: ServedKubeletOptions, pages = new KubeletPages(options)): ServedNodes {
  const streams = new RuntimeStreams(options)
  return {
    nodeOf: () => options.nodeName,
    async page(request) {
      const [kind = ''] = request.parts
      pages.checkEnabled(kind)
      if (!streamKinds.has(kind)) return pages.page(request)
      const path = { namespace: request.parts[1] ?? '', name: request.parts[2] ?? '', container: '' }
      podForStream(options.pods, path)
      throw new HttpError(500, 'Upgrade request required')
    },
    async log(container, logOptions, signal) {
      pages.checkEnabled('containerLogs')
      return containerLog(options, container, logOptions, signal)
    },
    async stream(upgrade, kind, container, query) {
      pages.checkEnabled(kind)
      await streams.serve(upgrade, kind, container, query)
    },
  }
}
