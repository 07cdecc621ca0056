/** Opens the sources that `--image-source` names. */
import { DockerEngine, engineAddress } from '../../../lib/docker-engine/index.ts'
import type { Log } from '../../../lib/log/log.ts'
import type { ImageStore } from '../store/image-store.ts'
import { ContainerdImages } from './containerd/containerd-images.ts'
import { DockerImages } from './docker-images.ts'
import type { HostImages } from './host-images.ts'
import { ImageSources, invalidSource } from './image-sources.ts'

const containerdSocket = '/run/containerd/containerd.sock'
/** The namespace of kubelets. */
const defaultNamespace = 'k8s.io'

/** Throws an ImageError for a text that names no source. Nothing is connected before an image is wanted. */
export function openImageSources(store: ImageStore, texts: readonly string[], log: Log): ImageSources {
  return new ImageSources({ store, sources: texts.map((text) => sourceOf(store, text)), log })
}

function sourceOf(store: ImageStore, text: string): HostImages {
  const [, kind, socket, namespace = defaultNamespace] =
    /^(docker|containerd)(?::(?:unix:\/\/)?(\/[^,]+))?(?:,namespace=([\w.-]+))?$/.exec(text) ?? []
  if (kind === 'containerd') return new ContainerdImages({ store, socket: socket ?? containerdSocket, namespace })
  if (kind !== 'docker' || text.includes(',')) throw invalidSource(text)
  return new DockerImages({ store, engine: new DockerEngine(engineAddress(socket && `unix://${socket}`)) })
}
