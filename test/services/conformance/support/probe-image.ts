/** The image of pods in tests of Services and names: busybox, Perl with a server and a client, and programs of DNS. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Container } from '../../../../src/kubelet/pod-types.ts'
import { busyboxLayer, layerOf, programLayer, writeImage } from '../../../kubelet/support/oci-image.ts'

export const probeImage = 'registry.test/probe:1'

const scripts = ['netserver.pl', 'netclient.pl']

/** Writes the image into a folder, and returns the file. */
export function writeProbeImage(folder: string): string {
  const file = join(folder, 'probe.tar')
  const programs = programLayer('/usr/bin/perl', '/usr/bin/dig', '/usr/bin/getent', '/usr/bin/openssl')
  const own = layerOf((layer) => {
    for (const name of scripts) copyFileSync(join(import.meta.dirname, name), join(layer, name))
  })
  writeImage(file, [probeImage], [busyboxLayer(), programs, own], { Cmd: ['sh'] })
  return file
}

/** A container with servers, such as `http:80` (netserver.pl). */
export const serverContainer = (servers: readonly string[], more: Partial<Container> = {}): Container => ({
  name: 'server',
  image: probeImage,
  command: ['perl', '/netserver.pl', ...servers],
  ...more,
})

/** A container from which tests connect. */
export const clientContainer: Container = { name: 'client', image: probeImage, command: ['sleep', '2147483647'] }
