import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { LegacyEncodingName } from "../contract/read.ts";
import { decode } from "../text/encoding/encoding.ts";
import { decideEncoding } from "./charset.ts";
import { growsLikeItsInput } from "../../test/support/growth.ts";

const texts = {
  French:
    "Le système détecte les fichiers déjà modifiés et prévient l'utilisateur.\nÀ la première erreur, la requête s'arrête : il faut vérifier le réseau.\nCela coûte peu, même où la mémoire est limitée.\n",
  German:
    "Die Größe der Datei wird geprüft, bevor sie geöffnet wird.\nFür jede Änderung gibt es einen Schlüssel, den das Gerät später übergibt.\nSchließlich müssen alle Einträge gelöscht werden.\n",
  Spanish:
    "La función comprueba el tamaño del archivo y añade una línea al final.\n¿Qué ocurre si la conexión falla? El programa lo intentará más tarde.\nMañana habrá una nueva versión en español.\n",
  Portuguese:
    "A função não altera o arquivo até que a configuração esteja válida.\nAs opções são lidas do diretório padrão; é possível mudá-las.\nAtenção: esta ação não pode ser desfeita.\n",
  Italian:
    "La velocità dipende dalla qualità della rete e dalla capacità del disco.\nPerché il file non è più disponibile? Così l'attività può continuare.\nÈ già stato salvato.\n",
  Swedish:
    "Först läser vi in alla inställningar från hårddisken.\nOm något går fel återställs värdena till de förvalda.\nAnvändaren får då välja på nytt vad som ska göras.\n",
  Danish:
    "Først læser vi alle indstillinger på harddisken.\nHvis noget går galt, får brugeren besked på skærmen.\nDerefter gør vi det hele færdigt i går eller i dag; små ændringer tælles også.\n",
  FrenchEuro:
    "Le prix total est de 250 € pour l'année, taxes incluses à la réception.\nLe cœur du problème : la sœur du client préfère payer 99 € après l'été.\nDéjà réglé à moitié.\n",
  Typography:
    "The “naïve” approach isn’t enough — it’s slow… and the café’s menu won’t load.\nUse the “fast path” instead – it’s better.\n",
  Polish:
    "Źródło błędu można znaleźć w pliku dziennika, który został właśnie usunięty.\nJeśli użytkownik nie ma uprawnień, należy wyświetlić ostrzeżenie.\nWartość domyślna służy tylko do testów; proszę ją później zmienić.\n",
  Czech:
    "Příliš žluťoučký kůň úpěl ďábelské ódy, když se načítal soubor.\nUživatel může změnit nastavení, pokud má dostatečná oprávnění.\nVýchozí hodnota se použije, jestliže není určena žádná jiná.\n",
  Hungarian:
    "A fájl megnyitása előtt ellenőrizni kell, hogy létezik-e és írható-e.\nHa a művelet sikertelen, a felhasználó egy hibaüzenetet kap erről.\nAz időtúllépés értéke szükség esetén növelhető a beállításokban.\n",
  Romanian:
    "Fişierul nu poate fi deschis dacă utilizatorul nu are drepturi.\nÎnainte de a şterge datele, trebuie să întrebăm dacă este sigur.\nAceastă opţiune este activă numai în reţeaua locală.\n",
  Russian:
    "Перед открытием файла нужно проверить, что он существует и доступен.\nЕсли произошла ошибка, пользователь увидит сообщение на экране.\nЗначение по умолчанию можно изменить в настройках программы.\n",
  Ukrainian:
    "Перед відкриттям файлу потрібно перевірити, що він існує і доступний.\nЯкщо сталася помилка, користувач побачить її опис на екрані.\nЇх значення можна змінити у налаштуваннях, є кілька варіантів.\n",
  Bulgarian:
    "Преди да отворим файла, трябва да проверим дали той съществува.\nАко възникне грешка, потребителят ще види съобщение на екрана.\nСтойността по подразбиране може да се променя от настройките.\n",
  Greek:
    "Πριν ανοίξει το αρχείο πρέπει να ελεγχθεί ότι υπάρχει και είναι προσβάσιμο.\nΑν συμβεί σφάλμα, ο χρήστης θα δει ένα μήνυμα στην οθόνη.\nΗ προεπιλεγμένη τιμή μπορεί να αλλάξει από τις ρυθμίσεις.\n",
  Turkish:
    "Dosya açılmadan önce var olup olmadığı ve yazılabilir olduğu denetlenir.\nBir hata oluşursa kullanıcı ekranda bir ileti görür, işlem durdurulur.\nVarsayılan değer, ayarlar bölümünden değiştirilebilir; şimdi gerek yok.\n",
  Hebrew:
    "לפני פתיחת הקובץ יש לבדוק שהוא קיים ושיש הרשאה לקרוא אותו.\nאם מתרחשת שגיאה, המשתמש יראה הודעה על המסך.\nאפשר לשנות את ערך ברירת המחדל בהגדרות התוכנה.\n",
  Arabic:
    "قبل فتح الملف يجب التحقق من أنه موجود وأنه يمكن قراءته.\nإذا حدث خطأ فسوف يرى المستخدم رسالة على الشاشة.\nيمكن تغيير القيمة الافتراضية من إعدادات البرنامج.\n",
  Lithuanian:
    "Prieš atidarant failą reikia patikrinti, ar jis egzistuoja ir ar galima jį skaityti.\nJei įvyksta klaida, naudotojas ekrane matys pranešimą apie tai.\nNumatytąją reikšmę galima pakeisti nustatymuose, jei būtų poreikis.\n",
  Latvian:
    "Pirms faila atvēršanas jāpārbauda, vai tas pastāv un vai to drīkst lasīt.\nJa rodas kļūda, lietotājs redzēs ziņojumu uz ekrāna.\nNoklusējuma vērtību var mainīt iestatījumos, ja tas ir nepieciešams šādā gadījumā.\n",
  Thai: "ก่อนเปิดไฟล์ต้องตรวจสอบว่ามีอยู่จริงและสามารถอ่านได้\nหากเกิดข้อผิดพลาด ผู้ใช้จะเห็นข้อความบนหน้าจอ\nค่าเริ่มต้นสามารถเปลี่ยนได้ในการตั้งค่า\n",
  Chinese:
    "打开文件之前，必须先检查它是否存在，以及是否可以读取。\n如果发生错误，用户会在屏幕上看到一条提示信息。\n默认值可以在程序的设置里修改，修改以后需要重新启动。\n",
  TraditionalChinese:
    "開啟檔案之前，必須先檢查它是否存在，以及是否可以讀取。\n如果發生錯誤，使用者會在螢幕上看到一則提示訊息。\n預設值可以在程式的設定裡修改，修改以後需要重新啟動。\n",
  Japanese:
    "ファイルを開く前に、それが存在し、読み取れることを確認します。\nエラーが発生した場合は、画面にメッセージが表示されます。\n既定値はプログラムの設定で変更できますが、再起動が必要です。\n",
  Korean:
    "파일을 열기 전에 파일이 있는지, 읽을 수 있는지 확인해야 합니다.\n오류가 발생하면 사용자는 화면에서 메시지를 보게 됩니다.\n기본값은 프로그램 설정에서 바꿀 수 있으며 다시 시작해야 합니다.\n",
} as const;

type Language = keyof typeof texts;

const cases: readonly (readonly [Language, LegacyEncodingName])[] = [
  ["French", "windows-1252"],
  ["French", "iso-8859-15"],
  ["French", "macintosh"],
  ["FrenchEuro", "windows-1252"],
  ["FrenchEuro", "iso-8859-15"],
  ["Typography", "windows-1252"],
  ["German", "windows-1252"],
  ["German", "iso-8859-15"],
  ["German", "macintosh"],
  ["Spanish", "windows-1252"],
  ["Spanish", "iso-8859-15"],
  ["Portuguese", "windows-1252"],
  ["Portuguese", "iso-8859-15"],
  ["Italian", "windows-1252"],
  ["Swedish", "windows-1252"],
  ["Danish", "windows-1252"],
  ["Polish", "windows-1250"],
  ["Polish", "iso-8859-2"],
  ["Czech", "windows-1250"],
  ["Czech", "iso-8859-2"],
  ["Hungarian", "windows-1250"],
  ["Hungarian", "iso-8859-2"],
  ["Romanian", "windows-1250"],
  ["Romanian", "iso-8859-2"],
  ["Russian", "windows-1251"],
  ["Russian", "koi8-r"],
  ["Russian", "ibm866"],
  ["Russian", "iso-8859-5"],
  ["Ukrainian", "windows-1251"],
  ["Ukrainian", "koi8-u"],
  ["Bulgarian", "windows-1251"],
  ["Greek", "windows-1253"],
  ["Greek", "iso-8859-7"],
  ["Turkish", "windows-1254"],
  ["Hebrew", "windows-1255"],
  ["Arabic", "windows-1256"],
  ["Arabic", "iso-8859-6"],
  ["Lithuanian", "windows-1257"],
  ["Latvian", "windows-1257"],
  ["Thai", "windows-874"],
  ["Chinese", "gb18030"],
  ["TraditionalChinese", "big5"],
  ["Japanese", "shift_jis"],
  ["Japanese", "euc-jp"],
  ["Korean", "euc-kr"],
];

/** The bytes of one and two that a decoder knows, turned round: `TextEncoder` has UTF-8 only. */
function encoderOf(encoding: LegacyEncodingName): (text: string) => Uint8Array {
  const bytesOf = new Map<string, readonly number[]>();
  const learn = (...bytes: number[]): void => {
    const { text, lossy } = decode(Uint8Array.from(bytes), encoding);
    if (!lossy && !bytesOf.has(text)) bytesOf.set(text, bytes);
  };
  for (let one = 0; one < 256; one++) learn(one);
  for (let lead = 0x81; lead < 0xff; lead++) for (let trail = 0x40; trail < 0xff; trail++) learn(lead, trail);
  return (text) =>
    Uint8Array.from(
      Array.from(text).flatMap((character) => {
        const bytes = bytesOf.get(character);
        if (bytes === undefined) throw new Error(`${encoding} has no ${character}`);
        return [...bytes];
      }),
    );
}

const encoders = new Map<LegacyEncodingName, (text: string) => Uint8Array>();
function encode(text: string, encoding: LegacyEncodingName): Uint8Array {
  const encoder = encoders.get(encoding) ?? encoderOf(encoding);
  encoders.set(encoding, encoder);
  return encoder(text);
}

const codeWith = (comment: string): string =>
  `import { open } from "node:fs/promises";\n\nexport async function main(path: string) {\n  // ${comment}\n  const file = await open(path, "r");\n  for (let i = 0; i < 10; i++) {\n    console.log(i, file.fd);\n  }\n  return file;\n}\n`;

const shapes = [
  ["prose", 45, (text: string) => text],
  ["code with one comment line", 45, (text: string) => codeWith(text.split("\n")[1] ?? "")],
  ["code with fourteen characters", 44, (text: string) => codeWith(text.slice(0, 14))],
] as const;

for (const [shape, right, shaped] of shapes) {
  test(`${right} of ${cases.length} languages and encodings are read right from ${shape}`, async () => {
    const wrong: string[] = [];
    for (const [language, encoding] of cases) {
      const text = shaped(texts[language]);
      const bytes = encode(text, encoding);
      const found = await decideEncoding([bytes]);
      if (decode(bytes, found.encoding).text !== text)
        wrong.push(`${language} in ${encoding}, taken for ${found.encoding}`);
    }
    expect(wrong, wrong.join("; ")).toHaveLength(cases.length - right);
  });
}

const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");

for (const [name, bytes, encoding] of [
  ["one accent is Western", latin1("caf\xe9\n"), "windows-1252"],
  ["typographic quotes are Western", latin1("na\xefve \x93quotes\x94\n"), "windows-1252"],
  ["a copyright sign is Western", latin1("\xa9 2015 Jos\xe9 Garc\xeda\n"), "windows-1252"],
  ["an accent used as an apostrophe is Western", latin1("it\xb4s\n"), "windows-1252"],
  ["a list of umlauts is Western", latin1('"\xe4\xf6\xfc\xc4\xd6\xdc\xdf"\n'), "windows-1252"],
  ["a word of one letter is Western", latin1("// \xe0 faire\n"), "windows-1252"],
  ["two Chinese characters are Chinese", encode("// 注释\n", "gb18030"), "gb18030"],
  [
    "a Cyrillic title in capitals is not its neighbour in small letters",
    encode("ПРОЧТИ — МЕНЯ\n", "windows-1251"),
    "windows-1251",
  ],
  ["a broken byte-order mark inside is no text", latin1("ok\n\xff\xfe broken\n"), "utf-8"],
  ["bytes that are controls are no text", latin1("\x80\x81\x82"), "utf-8"],
  ["a stray 0xff is no text", latin1("x\xffy\n"), "utf-8"],
  ["a stray byte is no Mac's letter", latin1("x\x8ey\n"), "utf-8"],
  ["all bytes above ASCII are no text", Uint8Array.from({ length: 128 }, (_, at) => 128 + at), "utf-8"],
  ["nothing is UTF-8", new Uint8Array(0), "utf-8"],
  [
    "UTF-8 with one bad byte stays UTF-8",
    Buffer.concat([Buffer.from("größer, schöner\n"), latin1("caf\xe9\n")]),
    "utf-8",
  ],
  [
    "Japanese UTF-8 with bad bytes stays UTF-8",
    Buffer.concat([latin1("\xff\xfe"), Buffer.from("設定を変更\n")]),
    "utf-8",
  ],
] as const) {
  test(name, async () => expect(await decideEncoding([bytes])).toEqual({ encoding }));
}

test("a sample that ends inside a character is understood", async () => {
  const bytes = encode(texts.Japanese.repeat(60), "shift_jis");
  for (const end of [5_000, 5_001, 5_002, 5_003]) {
    expect(await decideEncoding([bytes.subarray(0, end), bytes])).toEqual({ encoding: "shift_jis" });
  }
});

test("the only letter above ASCII may be the last byte of a long file", async () => {
  expect(await decideEncoding([latin1(`${"plain\n".repeat(2_000)}caf\xe9`)])).toEqual({ encoding: "windows-1252" });
});

test("without the detector Western text is still found", async () => {
  vi.resetModules();
  vi.doMock("./worker/host.ts", () => ({ packageFiles: () => undefined }));
  const without = await import("./charset.ts");
  expect(await without.decideEncoding([latin1("caf\xe9\n")])).toEqual({ encoding: "windows-1252" });
  expect(await without.decideEncoding([encode(texts.Russian, "koi8-r")])).toEqual({ encoding: "utf-8" });
  vi.doUnmock("./worker-host.ts");
});

test("random bytes never throw", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 3 }), async (samples) => {
      expect((await decideEncoding(samples)).encoding).toBeTypeOf("string");
    }),
  );
});

test("a thousand random bytes above ASCII are no text", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ min: 128, minLength: 1_000, maxLength: 1_200 }), async (bytes) => {
      // fast-check also makes long repetitions of one byte, which may well be "ÄÄÄÄ".
      fc.pre(new Set(bytes).size > 100);
      expect(await decideEncoding([bytes])).toEqual({ encoding: "utf-8" });
    }),
    { numRuns: 30 },
  );
});

test("four times the hostile bytes are four times the work", async () => {
  for (const byte of [0xe9, 0xa1, 0x81, 0xc4]) {
    await growsLikeItsInput(
      200_000,
      (size) => new Uint8Array(size).fill(byte),
      (bytes) => decideEncoding([bytes, bytes]),
    );
  }
});

// What grows with the square of the length would take hours.
test("hostile megabytes are answered", async () => {
  const hostile = [0xe9, 0xa1, 0x81, 0xc4].map((byte) => new Uint8Array(4_000_000).fill(byte));
  hostile.push(Uint8Array.from({ length: 4_000_000 }, (_, at) => 128 + ((at * at * 31 + at * 7) % 128)));
  for (const bytes of hostile) expect(await decideEncoding([bytes, bytes])).toBeDefined();
});
