/** The files of flannel in the process of a node. */
import { join } from 'node:path'

/** The file with the size of packets of pods, in the folder of flannel. */
export const subnetFileIn = (folder: string): string => join(folder, 'subnet.env')
