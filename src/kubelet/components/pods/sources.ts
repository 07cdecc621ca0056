/** The sources of pods beside the API: manifests in a folder and of a web server. */
import { parseDurationMs } from '../../../lib/duration.ts'
import { DesiredPods } from '../../sources/desired-pods.ts'
import { ManifestFolder } from '../../sources/static-pods/manifest-folder.ts'
import { ManifestUrl } from '../../sources/static-pods/manifest-url.ts'
import { component } from '../parts.ts'

export const desiredPods = component({
  name: 'desired pods',
  needs: [],
  gives: ['desired'],
  start: () => ({ desired: new DesiredPods() }),
})

export const manifests = component({
  name: 'manifests',
  needs: ['options', 'node', 'desired', 'schedule'],
  gives: ['startManifests'],
  start({ options: { configuration, log }, node, desired, schedule }, lifetime) {
    const { staticPodPath, staticPodURL, staticPodURLHeader: headers } = configuration
    const common = { nodeName: node.name, log, now: Date.now, schedule }
    const folder = new ManifestFolder({
      ...common,
      path: staticPodPath.replace(/(?<=.)\/+$/, ''),
      intervalMs: parseDurationMs(configuration.fileCheckFrequency) ?? 0,
      changed: (pods) => desired.setStatic('file', pods),
    })
    const url = new ManifestUrl({
      ...common,
      url: staticPodURL,
      headers,
      intervalMs: parseDurationMs(configuration.httpCheckFrequency) ?? 0,
      changed: (pods) => desired.setStatic('http', pods),
    })
    lifetime.onEnd(() => folder.stop())
    lifetime.onEnd(() => url.stop())
    return {
      async startManifests() {
        if (staticPodURL) await url.start()
        if (staticPodPath) await folder.start()
      },
    }
  },
})
