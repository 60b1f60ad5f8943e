package snapshot

import (
	"path"
	"slices"
	"strings"
)

// skipped are the folders that are never looked at: what programs keep for themselves and can make again, and the
// histories of repositories, which are their own way back. In lower case.
var skipped = []string{
	".git", ".hg", ".svn", ".jj", ".bzr",
	"node_modules", "bower_components", ".pnpm-store", ".yarn", ".npm", ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".angular",
	"__pycache__", ".venv", "venv", ".virtualenv", ".tox", ".nox", ".eggs", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints",
	".gradle", ".terraform", ".cache", ".trash", ".trashes", "$recycle.bin", "system volume information", ".spotlight-v100", ".fseventsd",
}

func skippedFolder(name string) bool { return slices.Contains(skipped, strings.ToLower(name)) }

// arriving marks a file that is still being written; incognito a folder that goes with its chat.
const (
	arriving  = ".part-"
	incognito = "outputs/incognito-"
)

// notText are the endings of files that hold no text: pictures, sound and film, archives, documents of office programs,
// databases, programs, fonts.
var notText = endings(`
	png jpg jpeg jpe gif bmp tif tiff webp avif heic heif ico icns psd psb ai eps xcf raw cr2 cr3 nef arw dng orf rw2 jxl jp2 kra
	mp3 wav flac ogg oga opus m4a aac wma aif aiff mid midi amr
	mp4 m4v mov avi mkv webm wmv flv mpg mpeg 3gp mts m2ts vob ogv
	zip gz tgz bz2 tbz2 xz txz zst lz lz4 lzma 7z rar tar jar war ear cab iso img dmg pkg deb rpm apk aab ipa whl egg crx xpi z br
	pdf doc docx docm dot dotx xls xlsx xlsm xlsb xlt ppt pptx pptm pps ppsx odt ods odp odg odf pages numbers key epub mobi azw azw3 djvu one pub vsd vsdx msg pst ost
	db db3 sqlite sqlite3 sqlite-wal sqlite-shm db-wal db-shm mdb accdb dbf ldb rdb realm parquet feather arrow orc avro h5 hdf5 nc npy npz mat pkl pickle joblib
	exe dll so dylib a lib o obj class pyc pyo pyd wasm bin com msi msix sys ko elf node pdb
	ttf otf woff woff2 eot ttc
	onnx pt pth ckpt safetensors gguf ggml tflite pb model weights
	blend fbx glb stl 3ds max dwg skp swf fla dat p12 pfx jks keystore kdbx gpg`)

func endings(list string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(list) {
		set["."+name] = true
	}
	return set
}

// saysNotText reports whether a file's name says that it holds no text.
func saysNotText(name string) bool { return notText[strings.ToLower(path.Ext(name))] }
