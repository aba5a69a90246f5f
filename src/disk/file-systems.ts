/** What a file system's type number (statfs) says about its files. Numbers are from the kernel's headers. */

/** File systems of the kernel itself: their files are no files, and some of them hang or never end when read. */
const kernelTypes = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x74726163, // tracefs
  0x64626720, // debugfs
  0x63677270, // cgroup2
  0x27e0eb, // cgroup
  0x73636673, // securityfs
  0x6165676c, // pstore
  0xcafe4a11, // bpf
  0x62656570, // configfs
  0xde5e81e4, // efivarfs
  0x1cd1, // devpts
  0x19800202, // mqueue
  0xf97cff8c, // selinuxfs
  0x42494e4d, // binfmt_misc
  0x65735543, // fusectl
  0x6e736673, // nsfs
  0x50495045, // pipefs
  0x534f434b, // sockfs
  0x5a3c69f0, // apparmorfs
  0x43415d53, // smackfs
  0x07655821, // resctrl
  0x6c6f6f70, // binderfs
  0x6e667364, // nfsd
  0x67596969, // rpc_pipefs
  0x9fa1, // openpromfs
]);

/** Local file systems answer at once or fail; anything else is read without blocking the process. */
const localTypes = new Set([
  0xef53, // ext2 to ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x01021994, // tmpfs
  0x858458f6, // ramfs
  0x794c7630, // overlay
  0x2fc12fc1, // zfs
  0xf2f52010, // f2fs
  0xca451a4e, // bcachefs
  0x73717368, // squashfs
  0xe0f5e1e2, // erofs
  0x4d44, // fat
  0x2011bab0, // exfat
]);

export const isKernelType = (type: number): boolean => kernelTypes.has(type >>> 0);
export const isLocalType = (type: number): boolean => localTypes.has(type >>> 0);
